// Collections of contact problems that we make with our own simulator, under the names and sizes of
// the FCLIB collections of the paper's Table II: problems like those, not those.
#pragma once
#include "rigor/rigor.h"

typedef struct rgFamily {
    const char* name;
    const char* description;
    int count; // problems, as in the paper
    int most;  // contacts of a problem at most
    int least; // and at least
    double mu;
    int runCount;        // simulations that they are taken from
    double first, every; // [s]: when the first state of a simulation is taken, and how often
    // The bodies of run r, as MJCF below worldbody; returns its length.
    int (*write)(int run, char* text, int capacity);
} rgFamily;

enum { rg_familyCount = 3 };
extern const rgFamily rgFamilies[rg_familyCount];

// A problem in the making; views until the function returns. False ends it.
typedef bool rgTakeProblemFcn(void* context, const rgFamily* family, int index,
                              const rgContactProblem* problem, const int* keys);

// Simulate a family and pass every `stride`-th problem, by its number from 0, to the function.
// False when the function returned it, or a simulation failed.
bool rgFamily_Generate(const rgFamily* family, int stride, rgTakeProblemFcn* take, void* context);

// Write them as FCLIB files FOLDER/NAME/NAME-iNNNN-CONTACTS.hdf5. False after a message.
bool rgFamily_Write(const rgFamily* family, int stride, const char* folder);

// Contacts of a problem, and how many of its blocks are something else.
int rgCountContacts(const rgContactProblem* problem, int* others);
// Write a problem. False after a message.
bool rgWriteProblem(const rgContactProblem* problem, const int* keys, const char* path,
                    const char* title, const char* description);
