// Private workspace of the rigid-body algorithms.
//
// All spatial quantities are in world axes, at the reference point of their kinematic tree: the
// origin of its first link, held fixed for the instant. So nothing is transformed between links,
// and a robot far from the world's origin loses no digits. See docs/theory/dynamics.md.
#pragma once
#include "model/model.h"
#include "rigor/dynamics.h"

#define RG_COOKIE_DYNAMICS 0x72670d01u

// Pose of a link.
typedef struct rgLinkPose {
    rgRot r;
    rgVec3 p; // origin, relative to the tree's reference point
} rgLinkPose;

// Inertia of a link about its centre of mass, world axes.
typedef struct rgLinkInertia {
    double mass;
    rgVec3 center; // relative to the tree's reference point
    rgSym3 moment;
} rgLinkInertia;

// Inertia of a link and all below it, about the tree's reference point.
typedef struct rgComposite {
    double mass;
    rgVec3 first; // mass times centre
    rgSym3 moment;
} rgComposite;

// Articulated inertia: force = [A B; B' C] motion.
typedef struct rgArticulated {
    rgSym3 A;
    rgMat3 B;
    rgSym3 C;
} rgArticulated;

typedef struct rgSlopes rgSlopes;

// Motion of a kinematic link.
typedef struct rgPrescribed {
    rgPose pose;            // pose of its body
    rgSpatial velocity;     // velocity of the body's origin, world axes
    rgSpatial acceleration; // acceleration of the body's origin, world axes
} rgPrescribed;

typedef enum rgStageBit {
    rg_haveInertias = 1,
    rg_haveComposites = 2,
    rg_haveMass = 4, // mass matrix; of deep trees only its diagonal
    rg_haveRows = 8, // all of M
} rgStageBit;

struct rgDynamics {
    rgAllocator allocator;
    const rgModel* model;
    rgVec3 gravity;
    bool stepCoordinates;
    unsigned valid; // rgStageBit, of the present positions
    bool moving;    // velocities and biases are not all zero

    rgPrescribed* prescribed;   // rgDynamics_SetBodyMotion, kinematicCount
    double* q;                  // rgDynamics_SetPositions, qCount
    double* v;                  // rgDynamics_SetState, vCount
    double* sines;              // rgPlaceLinks, qCount: from the first angle of a tree on
    double* cosines;            // rgPlaceLinks, qCount
    rgVec3* origins;            // rgPlaceLinks, per tree: the reference point in the world
    rgLinkPose* poses;          // rgPlaceLinks, per link
    rgSpatial* axes;            // rgPlaceLinks, per degree of freedom: S
    rgSpatial* velocities;      // rgMoveLinks, per link: V
    rgSpatial* biases;          // rgMoveLinks, per link: acceleration with a = 0, without gravity
    rgSpatial* accelerations;   // rgDynamics_SetAccelerations, per link, without gravity
    rgSpatial* pushes;          // inverse and forward dynamics, per link: S a summed from the root
    rgSpatial* forces;          // inverse and forward dynamics, per link
    rgLinkInertia* inertias;    // rgDynamics_NeedInertias, per link
    rgComposite* composites;    // rgDynamics_NeedComposites, per link
    double* mass;               // rgDynamics_NeedMass, massCount: M in compact rows
    int* rowLength;             // rgDynamics_NeedMass, vCount: of a row that is not 0 for good
    double* sparseMass;         // rgDynamics_SparseMassMatrix, both triangles
    double* factor;             // rgDynamics_Factorize, massCount: D on the diagonal, L beside it
    double* inverseDiagonal;    // rgDynamics_Factorize, vCount: 1/D
    rgArticulated* articulated; // forward dynamics, per link
    rgSpatial* hinged;          // forward dynamics, per degree of freedom: articulated inertia S
    double* hingedInverse;      // forward dynamics, vCount: 1 / (S' articulated inertia S)
    double* inverseRoot;        // rgDynamics_FindRoots, vCount: D^-1/2
    bool* isDeep;               // per tree: factorized by articulated inertias
    bool anyDeep;
    rgSpatial* levers; // rgDynamics_Articulate, vCount, of deep trees
    double* scratch;   // 4 vCount
    rgSlopes* slopes;  // derivative.c: made by the first call that needs them
};

// The motion of a kinematic link from that of a body that is fixed to it.
rgPrescribed rgPrescribe(const rgPlace* place, rgPrescribed body);

// Stages that several calls share; each does nothing when its result is there. M needs inertias and
// composites of the trees only that it couples.
void rgDynamics_NeedInertias(rgDynamics* d);
void rgDynamics_NeedComposites(rgDynamics* d);
void rgDynamics_NeedMass(rgDynamics* d);
void rgDynamics_NeedRows(rgDynamics* d);
void rgDynamics_FillInertias(rgDynamics* d, int first, int end);

// Force that each link alone needs for the accelerations that a (NULL: zero), the present velocity
// and gravity imply, minus the wrenches on it: inverse dynamics before the sum towards the root.
void rgDynamics_LinkForces(rgDynamics* d, const double* a, const rgSpatial* wrenches);
// Columns of the mass matrix: force that moves everything below a link along one of its axes.
rgSpatial rgComposite_Force(const rgComposite* inertia, const rgSpatial* motion);

// ---- M of deep trees: forward.c. Rows of M grow with the depth, articulated inertias do not; L
// and D are the same.
rgResult rgDynamics_Articulate(rgDynamics* d, int tree, const double* added);
void rgDynamics_SolveArticulated(const rgDynamics* d, int tree, double* x);
void rgDynamics_FollowArticulated(const rgDynamics* d, int tree, double* x); // x := L^-1 x
// x := L^-T x, of which x[stride * column] are the entries, for the columns that are of deep trees;
// they are closed upwards.
void rgDynamics_ReduceDeep(const rgDynamics* d, const int* columns, int count, int stride,
                           double* x);

// ---- one tree, once inertias and mass matrix are there; the others are not touched

void rgDynamics_PlaceTree(rgDynamics* d, int tree,
                          const double* q); // with inertias and mass matrix
// Links and motion axes alone: inertias and masses stay those of where the tree was.
void rgDynamics_PlaceTreeLinks(rgDynamics* d, int tree, const double* q);
void rgDynamics_FillTreeMass(rgDynamics* d, int tree);
rgResult rgDynamics_FactorizeTree(rgDynamics* d, int tree, const double* added);
// Set another velocity at the same positions, and compute its b(q, v).
void rgDynamics_SetTreeVelocity(rgDynamics* d, int tree, const double* v);
void rgDynamics_TreeBias(rgDynamics* d, int tree, double* bias);
// Velocities that v gives the links: of their centres of mass, in world axes, and their rates, in
// axes of the link. The present velocity stays.
void rgDynamics_TreeRates(rgDynamics* d, int tree, const double* v, rgSpatial* rates);
// J' of the momenta that links with such velocities have.
void rgDynamics_SumMomenta(rgDynamics* d, int tree, const rgSpatial* rates, double* sum);
// J' of the weight of a tree.
void rgDynamics_TreeWeight(rgDynamics* d, int tree, double* sum);
void rgDynamics_TreeMultiply(rgDynamics* d, int tree, const double* x, double* y); // M x
// rgDynamics_Solve() of the degrees of freedom of one tree; the others are not touched.
void rgDynamics_SolveTree(const rgDynamics* d, int tree, double* x);
// rgDynamics_Whiten() in parts: D^-1/2 of the last factorization, then rows from one on.
void rgDynamics_FindRoots(const rgDynamics* d);
void rgDynamics_WhitenFrom(const rgDynamics* d, const rgSparse* jacobian, int first, double* W);
// dynamics.14: x := M^-1 J' y from x = W' y, for the last factorization and rgDynamics_Whiten().
void rgDynamics_Unwhiten(const rgDynamics* d, double* x);

// Diagonal entries of J M^-1 J', for the last factorization, of rows over the same columns, which
// are closed upwards.
void rgDynamics_RowsDelassus(const rgDynamics* d, int rowCount, int count, const int* columns,
                             const double* values, double* G);

// World point of a place, relative to the tree's reference point; the world's places are absolute.
static inline rgVec3 rgDynamics_PlacePoint(const rgDynamics* d, const rgPlace* place) {
    const rgLinkPose* pose = &d->poses[place->link];
    return rgAdd(pose->p, rgRot_Apply(&pose->r, place->pose.p));
}
// Reference point of a link's tree.
static inline rgVec3 rgDynamics_LinkOrigin(const rgDynamics* d, int link) {
    int tree = d->model->links[link].tree;
    return tree >= 0 ? d->origins[tree] : rgVec(0, 0, 0);
}
// Centre of mass of a link, relative to the tree's reference point.
static inline rgVec3 rgDynamics_LinkCenter(const rgDynamics* d, int link) {
    const rgLinkPose* pose = &d->poses[link];
    return rgAdd(pose->p, rgRot_Apply(&pose->r, d->model->links[link].center));
}
rgPose rgDynamics_PlacePose(const rgDynamics* d, const rgPlace* place);

// Degrees of freedom that move link A or link B (A = 0: the world), ascending. Returns how many.
int rgModel_PairColumns(const rgModel* model, int linkA, int linkB, int* columns);
// Rows of J_B - J_A for the velocity of the world point along three directions, over those columns:
// rows[k * columnCount + i]. Columns that move both are zero.
void rgDynamics_PairRows(const rgDynamics* d, int linkA, int linkB, rgVec3 point,
                         const rgVec3 directions[3], const int* columns, int columnCount,
                         double* rows);
// Rows of the relative angular velocity.
void rgDynamics_PairAngularRows(const rgDynamics* d, int linkA, int linkB, const rgVec3* directions,
                                int directionCount, int columnCount, double* rows);
// Rows of the velocity of pointB on link B minus that of pointA on link A: the rate of a
// loop's violation, exact even while the loop is open.
void rgDynamics_LoopRows(const rgDynamics* d, int linkA, rgVec3 pointA, int linkB, rgVec3 pointB,
                         int columnCount, double* rows);

// transmission.c: length of a tendon. Values: NULL, or its rate over the model's columns of the
// tendon; drift: NULL, or the rate by kinematic bodies.
double rgDynamics_TendonRow(const rgDynamics* d, int tendon, double* values, double* drift);
// Add the wrench on each body, about the world's origin, of a force along the path of a tendon
// (positive: it lengthens).
void rgDynamics_LoadTendon(const rgDynamics* d, int tendon, double force, rgSpatial* wrenches);
// Position of an actuator and its rate over the model's columns of the actuator, and drift, as of a
// tendon; and its force if it acts on frames.
double rgDynamics_DriveRow(const rgDynamics* d, int actuator, double* values, double* drift);
void rgDynamics_LoadDrive(const rgDynamics* d, int actuator, double force, rgSpatial* wrenches);
