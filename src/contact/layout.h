// Structure of a contact problem: its rows as small sets, the islands that couple them, and in
// velocity form the parts of the mass matrix. Computed once per solve; numbers do not matter except
// for being zero.
#pragma once
#include "base/base.h"
#include "rigor/contact.h"

// Rows that share one set K: a contact, one box row, or up to RG_SET_MAX half lines or free rows.
#define RG_SET_MAX 6
typedef struct rgSetSource {
    int block;
    int firstRow;
    int rowCount;
} rgSetSource;

typedef struct rgLayout {
    int setCount;
    rgSetSource* sets;
    int* setOfRow; // n

    int islandCount;
    int* islandOfSet;
    int* islandStart; // islandCount + 1, into members
    int* members;     // sets by island, ascending within each
    int* placeOfSet;  // place of a set among those that are being solved; -1: left out

    int partCount;             // velocity form: velocities that move together
    const int* partOfVelocity; // nv
    int* placeInPart;          // nv
    int* partSize;             // partCount
    int* partStart;            // partCount + 1, into partVelocities
    int* partVelocities;       // velocities by part, ascending
    int* setOfPart;            // a set that touches the part; -1: none. NULL: all are one island
} rgLayout;

// split false: one island.
rgResult rgBuildLayout(const rgContactProblem* problem, bool split, rgArena* arena,
                       rgLayout* layout);

// Union-find: parent[i] = i at first. Join two classes; then number them in the order of their
// first members: out[i] becomes the number of i's class.
void rgJoin(int* parent, int a, int b);
int rgNumberClasses(int* parent, int count, int* out);

// Stable counting sort of 0..count-1 by class: items of class k are items[start[k]] ..
// items[start[k + 1]], and place[i] is where item i stands within its class.
void rgGroup(int count, const int* classOf, int classes, int* start, int* items, int* place);
