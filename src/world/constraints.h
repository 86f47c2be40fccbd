// Rows, islands and the contact problem of a step.
#pragma once
#include "math/kernels.h"
#include "world/contacts.h"
#include "world/rows.h"

typedef struct rgTransmission rgTransmission;

// Island of trees that rows connect, with the work of its contacts; stored at its root.
typedef struct rgIsland {
    int parent;        // tree of the island; itself at the root
    bool limited;      // rebounds less than Newton's law says
    bool jams;         // per tree: no impulses were found that rebound; none do in this step
    bool projects;     // project.c: penetration or loops
    double share;      // of the rebound, in the last pass
    double work, hits; // of contacts, and scale of it: energy of the impacts [J]
    double low, high;  // shares that are allowed and that are not
    double lowWork, highWork, allowed;
    double third, thirdWork; // the last share that was a bound, and its work; negative: none
    double scale;            // of work between no share and all
} rgIsland;

// Rows, islands and the contact problem of a step.
typedef struct rgConstraintSet {
    rgRows rows;
    rgContactProblem problem;
    rgContactSolver* solver;
    const rgKernels* kernels;
    double* whitened; // entries of J L^-T
    int whitenedCapacity;
    int whitenedFirst, whitenedEnd; // rgAddEqualities: rows that have it already
    int* massStart;                 // vCount + 1: M^ in compressed rows
    int* massColumn;
    int* massSource; // entry of the compact mass matrix
    double* massValue;
    int* treeOfDof;      // vCount
    rgIsland* islands;   // rgConnectIslands, per tree
    int restitutionPass; // restitution.c: passes since shares are limited; 0: none is
    bool* isHeld;        // per tree: rows act on it
    bool* isOpen;        // per equality: rigid, and not closed
    rgPlace* loopPlaces; // two per equality: its ends
    int rigidEqualityCount;
    int* entryColumns;   // vCount, scratch
    double* entryValues; // vCount, scratch
    rgStart* starts;     // per tree
    bool* solved;        // per tree: that of the state after the step
    bool hasBelts;       // any shape has a surface velocity
} rgConstraintSet;

// Bias and compliance of a row from its violation phi (negative: violated); docs/theory/step.md.
typedef struct rgLaw {
    double bias, compliance;
} rgLaw;

static inline bool rgEqualityIsLoop(const rgEqualityDef* def) {
    return def->kind == rg_equalityConnect || def->kind == rg_equalityWeld;
}

rgResult rgConstraintSet_Create(rgWorld* world);
void rgConstraintSet_Destroy(rgConstraintSet* constraints, const rgAllocator* allocator);
void rgConstraintSet_Plan(rgConstraintSet* constraints, const rgModel* model);
void rgConstraintSet_Clear(rgConstraintSet* constraints); // no rows, no problem
// Mark squeezed contacts that give way; returns their number and that of open loops.
int rgConstraintSet_MarkRegularized(const rgConstraintSet* constraints, rgContactSet* contacts);
// True for rows of a rigid equality that is not closed.
bool rgConstraintSet_LoopIsOpen(const rgConstraintSet* constraints, int row);
// Rigid one-sided law with the gap phi and a time to close it.
rgLaw rgUnilateralLaw(double phi, double ahead);
// Mobility 1/m along a row.
double rgRows_Mobility(const rgConstraintSet* constraints, const rgKinematics* kinematics, int row);
// 1/m of free.3 along a row.
double rgRows_SpringMobility(const rgConstraintSet* constraints, const rgKinematics* kinematics,
                             int row);
// Spring and damper along a row with free length 0 at stretch: lambda = dt (command - force).
rgLaw rgSpringLaw(const rgConstraintSet* constraints, const rgKinematics* kinematics, double dt,
                  int row, rgSoftness soft, double stretch, double command);
// Law of a two-sided row: rigid, or a spring and damper.
rgLaw rgBilateralLaw(double dt, double phi, rgSoftness soft);
// M + diag(added), or M where added is NULL, in compressed rows.
void rgConstraintSet_FillMass(const rgConstraintSet* constraints, const rgKinematics* kinematics,
                              const double* added, double* values);
// Add all rows of the step; their bias is gamma.
rgResult rgWorld_AddRows(rgWorld* world);
// Fill W = J L^-T for the rows without it.
rgResult rgConstraintSet_WhitenRows(rgConstraintSet* constraints, const rgKinematics* kinematics,
                                    const rgAllocator* allocator);
// Reserve W for the present rows; entries that exist stay.
rgResult rgConstraintSet_ReserveWhitened(rgConstraintSet* constraints,
                                         const rgAllocator* allocator);

// ---- lever_arm.c
// Lengths of all rows, which turn their velocities into m/s.
void rgConstraintSet_FillLengths(rgConstraintSet* constraints, const rgKinematics* kinematics,
                                 const rgContactSet* contacts);

// ---- constraint_joint.c
// True if a limit may act in this step (constraints.9).
bool rgLimitIsNear(double dt, double phi, double speed, double freeSpeed);
rgResult rgAddLimits(rgWorld* world);
rgResult rgAddDryFriction(rgWorld* world);

// ---- constraint_equality.c
void rgWarnEqualities(const rgModel* model, rgDiagnostics* diagnostics);
// Attachment points of loops, from the model.
void rgConstraintSet_PlaceLoops(rgConstraintSet* constraints, const rgModel* model);
rgResult rgAddEqualities(rgWorld* world);
// Rows of an equality at the present kinematics: gaps and Jacobian, without bias. Returns the
// first row, -1 when out of memory, -2 when the equality is inactive.
int rgAddEqualityRows(rgWorld* world, rgRows* rows, int equality);
// Slope dl2/dl1 of a coupling of tendons at the lengths of the step.
double rgCouplingSlope(const rgTransmission* transmission, const rgModel* model, int equality);
// Compliance (constraints.16) of the last block, without rows that have no mobility.
void rgRows_Regularize(rgRows* rows, const rgKinematics* kinematics, int first);
// Diagonal entries of G of rows that have the same columns.
void rgRows_Delassus(const rgRows* rows, const rgKinematics* kinematics, int row, int count,
                     double* G);

// ---- constraint_actuator.c
rgResult rgAddActuators(rgWorld* world);
// Row of an actuator's transmission; entries as rgTendonEntries().
int rgActuatorEntries(const rgTransmission* transmission, rgConstraintSet* constraints,
                      const rgModel* model, int actuator);
// Add a value to the scratch row of the set.
void rgAddEntry(rgConstraintSet* constraints, int* count, int column, double value);

// ---- constraint_tendon.c
rgResult rgAddTendons(rgWorld* world);
// Row of a tendon's length times scale: returns the count of entries in entryColumns and
// entryValues, merged and ascending.
int rgTendonEntries(const rgTransmission* transmission, rgConstraintSet* constraints,
                    const rgModel* model, int tendon, double scale);

// ---- constraint_contact.c
rgResult rgAddContacts(rgWorld* world);
rgMaterial rgContactSet_Material(const rgContactSet* contacts, const rgWorldDef* def,
                                 const rgModel* model, const rgContactPoint* point);
int rgContactRowCount(const rgMaterial* material);
// Energy tanks of contact springs, from v+.
void rgUpdateEnergyTanks(rgWorld* world);

// ---- restitution.c
// Revise the share of the rebound of islands whose contacts add energy. last: take the largest
// share that is allowed. True: some share has changed.
bool rgReviseRestitution(rgWorld* world, bool last);
// Let all impacts rebound, at the start of a step.
void rgWorld_StartRestitution(rgWorld* world);
// True if an island is unsolved whose impacts rebound; they do not any more.
bool rgWorld_StopRebounds(rgWorld* world, const rgContactReport* report);
// Share of the rebound of a contact.
double rgConstraintSet_RestitutionShare(const rgConstraintSet* constraints,
                                        const rgContactSet* contacts, const rgModel* model,
                                        const rgContactPoint* point);
// Islands of trees that rows connect.
void rgConnectIslands(rgConstraintSet* constraints, const rgModel* model);
int rgFindIsland(rgIsland* islands, int tree);
int rgRowIsland(const rgConstraintSet* constraints, int row);

// ---- bristle.c
// Tangential springs of the contact rows.
void rgAddBristles(rgWorld* world);
// Elastic displacement after the step, from the impulses and v+.
rgVec3 rgNextBristle(const rgWorld* world, const rgContactPoint* point);

// ---- rows.c
// Shortest drift time of the trees of a row.
double rgRows_DriftTime(const rgConstraintSet* constraints, const rgKinematics* kinematics,
                        double dt, int row);
