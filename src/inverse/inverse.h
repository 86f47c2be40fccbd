// Private workspace of inverse dynamics. docs/theory/inverse.md.
#pragma once
#include "rigor/inverse.h"
#include "world/world.h"

// A block, or one row of it, whose impulses the wanted velocity leaves open.
typedef struct rgInverseOpen {
    rgBlock block;       // of the reduced problem
    int first, count;    // rows of the full problem
    double ray[6];       // impulses per normal impulse: full = ray * normal
    bool independent[6]; // rows that are unknowns of their own
    bool normalIsGiven;  // compliant contact: only the other rows are open
    double normal;       // then: its normal impulse
    bool springs;        // friction is that of a tangential spring
} rgInverseOpen;

// The least-squares problem over the open impulses, in the form that the contact solver takes.
typedef struct rgReduced {
    int unknownCount;       // rows of the degrees of freedom that have no motor
    int* columnOf;          // vCount: position among those, or -1
    int* massStart;         // identity
    int* massColumn;        //
    double* massValue;      //
    double* missingImpulse; // vCount: impulse that is missing without the open rows
    int rowCapacity;        //
    rgBlock* blocks;        // per open block
    int blockCapacity;      //
    int* rowStart;          // per reduced row, and one more
    double* x;              // per reduced row: impulse
    double* anchor;         // where the proximal term pulls
    double* g;              //
    double* compliance;     //
    int entryCapacity;      //
    int* column;            //
    double* value;          //
    rgContactSolver* solver;
} rgReduced;

struct rgInverseWork {
    double* givenV;       // vCount: v_ref as it came
    double* vRef;         // vCount, step coordinates: of the rows
    double* driven;       // rgWorld_SumOtherForces
    double* acceleration; // vCount
    double* push;         // J' lambda
    double* need;         // force without impulses, step coordinates
    double* force;        // vCount, step, then body coordinates
    double* contactForce; // vCount, step, then body coordinates
    bool* actuated;       // vCount
    rgInverseBase* bases;
    int baseCount;
    int rowCapacity;
    double* reference; // per row: J v_ref + gamma
    double* target;    // per row: reference that the constraints allow, small numbers zero
    double* saved;     // per row
    int contactCapacity;
    rgInverseContact* contacts;
    int openCapacity, openCount;
    rgInverseOpen* opens;
    double* dense; // rank: open rows, one after the other
    int denseCapacity;
    rgReduced reduced;
};

// One call in progress.
typedef struct rgInverseCall {
    rgWorld* world;
    rgInverseWork* work;
    const rgInverseDef* def;
    rgInverseResult* result;
} rgInverseCall;

// rows.c: velocity, impulse and state of every row for the given velocity.
void rgInverse_Reference(rgInverseCall* call); // reference
void rgInverse_Start(rgInverseCall* call);     // lambda to start from
void rgInverse_Target(rgInverseCall* call);    // target, violations, impulses of compliant rows
rgResult rgInverse_FindOpen(rgInverseCall* call);

// feasible.c
rgResult rgInverse_MakeFeasible(rgInverseCall* call);
rgResult rgInverse_CountRank(rgInverseCall* call);
void rgReduced_Free(const rgAllocator* allocator, rgReduced* reduced);

// inverse.c: y = J' lambda
void rgInverse_ImpulseForce(const rgConstraintSet* constraints, const rgModel* model,
                            const double* lambda, double* y);
