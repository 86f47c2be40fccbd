// Private view of the compiled model: plain arrays that dynamics, collision and world read.
//
// Links are the moving parts: link 0 is the world, link i > 0 has one joint part and hangs on
// links[i].parent < i. Links are ordered depth first, so a tree is a range of links and of degrees
// of freedom. Links that are told where they are come after all others, from linkCount on: they
// have no coordinates, and loops over links leave them out. A link's frame is chosen for speed
// (its joint's axis is +-x, +-y or +-z through the origin); bodies, shapes and frames carry a
// constant pose in their link.
#pragma once
#include "base/base.h"
#include "math/frame.h"
#include "model/kinds.h"
#include "rigor/model.h"

typedef enum rgLinkKind {
    rg_linkWorld,
    rg_linkRevolute,
    rg_linkPrismatic,
    rg_linkSpherical,
    rg_linkFree,
    rg_linkKinematic, // told where it is: no coordinates, no tree
} rgLinkKind;

// Everything that dynamics needs of a link, in one piece.
typedef struct rgLink {
    rgRot rotation; // of the link's frame in its parent's at q = 0
    rgVec3 origin;  // of the link's frame in its parent's at q = 0
    double mass;
    rgVec3 center; // of mass, in the link's frame
    rgSym3 moment; // about the centre of mass
    double sign;   // the axis is sign times x, y or z
    int parent;
    int q, v;   // first coordinates
    int vCount; // 1, 3 or 6
    int tree;
    int joint; // joint index (not id)
    uint8_t kind;
    uint8_t axis;   // 0 x, 1 y, 2 z
    bool unrotated; // rotation is the identity
    bool massless;  // mass and moment are zero
} rgLink;

// One degree of freedom.
typedef struct rgDof {
    double armature;
    double damping;
    double dryFriction;
    int link;
    int joint;
    int parent;   // the degree of freedom above; -1: none
    int rowStart; // row of M in compact storage: itself, then its ancestors upwards
    int depth;    // length of that row
} rgDof;

// A rigid set of degrees of freedom that moves independently of the others.
typedef struct rgTree {
    int firstLink, linkCount;
    int firstDof, dofCount;
} rgTree;

// Place of a body, shape or frame on a link.
typedef struct rgPlace {
    rgPose pose; // in the link's frame
    int link;
    int body;      // index; -1: the world itself
    bool isOrigin; // pose is the identity
} rgPlace;

// Open addressing over names; slot 0 is empty, k > 0 is part k - 1.
typedef struct rgNameTable {
    int32_t* slots;
    int slotCount; // a power of two, or 0
} rgNameTable;

struct rgModel {
    rgAllocator allocator;
    rgArena arena; // everything below
    rgModelInfo info;

    int linkCount; // with the world, without kinematic ones
    int kinematicCount;
    rgLink* links;          // linkCount + kinematicCount
    rgPose* kinematicPoses; // kinematicCount: where their bodies' definitions say
    int treeCount;
    rgTree* trees;
    int vCount, qCount;
    rgDof* dofs;
    int massCount;    // entries of M in compact storage
    int* massColumns; // massCount: column of each entry
    // M as compressed rows with both triangles: 2 massCount - vCount entries.
    int* sparseStart;   // vCount + 1
    int* sparseColumns; // ascending in a row
    int* sparseFrom;    // the entry in compact storage
    double* neutral;    // qCount: every body where its definition says

    // The parts of the definition, copied; axes and quaternions are normalised.
    rgBodyDef* bodies;
    rgJointDef* joints;
    rgShapeDef* shapes;
    rgFrameDef* frames; // the bodies' frames follow those of the definition
    rgTendonDef* tendons;
    rgActuatorDef* actuators;
    rgEqualityDef* equalities;
    rgSensorDef* sensors;
    rgKeyDef* keys; // with complete arrays

    rgPlace* bodyPlaces;
    rgPlace* shapePlaces;
    rgPlace* framePlaces;
    rgJointRange* jointRanges;
    // Degrees of freedom that a tendon's length may depend on, or that an actuator acts on,
    // ascending.
    int* tendonStart; // tendonCount + 1
    int* tendonColumns;
    int* driveStart; // actuatorCount + 1
    int* driveColumns;
    int* movingBodies; // per link: index of the body that owns its joint; -1 for the world
    int* bodyOrder;    // depth first: in which links sum up the inertias of their bodies

    // Collision filters. Static bodies fixed together have one assembly number; 0: the world.
    int* assemblies;    // per body
    uint64_t* excludes; // sorted pairs of body indices
    int excludeCount;
    uint64_t* pairs; // sorted pairs of shape indices
    rgMaterial* pairMaterials;
    bool* pairHasMaterial;
    int pairCount;

    rgNameTable names[rg_partKindCount];
};

// Stretch of a spring with slack; negative: pressed.
static inline double rgSlackStretch(const rgTendonDef* tendon, double length) {
    double stretch = length - tendon->springReference;
    return stretch > tendon->slack ? stretch - tendon->slack : RG_MIN(stretch, 0);
}

static inline bool rgModel_IsKinematic(const rgModel* model, int link) {
    return link >= model->linkCount;
}

// Links of all kinds: arrays indexed by link have as many entries.
static inline int rgModel_AllLinks(const rgModel* model) {
    return model->linkCount + model->kinematicCount;
}

// compile.c, in order of use. Every step reports to the compiler and goes on, so that one run finds
// all mistakes.
typedef struct rgCompiler {
    const struct rgModelDef* def;
    rgDiagnostics* diagnostics;
    rgModel* model;
    int errorCount;
    bool outOfMemory;
} rgCompiler;

// Complain about a part: the message starts with its kind and name.
void rgCompiler_Error(rgCompiler* compiler, rgSource source, const char* format, ...)
    __attribute__((format(printf, 3, 4)));
void rgCompiler_Warn(rgCompiler* compiler, rgSource source, const char* format, ...)
    __attribute__((format(printf, 3, 4)));
void* rgCompiler_Allocate(rgCompiler* compiler, int count,
                          size_t size); // zeroed; NULL: out of memory
// Name of a part for messages: "#3" style numbers for those without one.
const char* rgPartName(const char* name, int index, char buffer[32]);

void rgCheckDefinition(rgCompiler* compiler);    // check.c
bool rgBuildParts(rgCompiler* compiler);         // parts.c: copies of the parts
bool rgBuildLinks(rgCompiler* compiler);         // links.c: links, dofs, trees, places
bool rgBuildTransmissions(rgCompiler* compiler); // transmission.c: their degrees of freedom
bool rgBuildKeys(rgCompiler* compiler);          // parts.c: keys with complete arrays
bool rgBuildFilters(rgCompiler* compiler);       // filter.c
bool rgBuildNames(rgCompiler* compiler);         // names.c
void rgCheckLinks(rgCompiler* compiler);         // check.c: masses that move

// links.c: derived from the inertias of bodies and from joints.
void rgModel_SumInertias(rgModel* model);
void rgModel_SetDofs(rgModel* model);
// check.c: true if a part may be changed so in a compiled model; reports the reason otherwise.
bool rgCheckChange(rgPartKind kind, int index, const void* part, rgDiagnostics* diagnostics);

// filter.c: rgModel_ShapesMeet() of two shapes of the model, were they not disabled
bool rgModel_ShapesMayMeet(const rgModel* model, rgShapeId a, rgShapeId b);
// filter.c: rgModel_PairMaterial() with another rule for friction; unset: that of the materials
rgMaterial rgModel_CombinedMaterial(const rgModel* model, rgShapeId a, rgShapeId b,
                                    rgFrictionRule rule);

// Index of the part of this name, -1 when there is none. nameOf reads the k-th part's name.
int rgModel_FindPart(const rgModel* model, rgPartKind kind, const char* name);
const char* rgModel_PartName(const rgModel* model, rgPartKind kind, int index);
int rgModel_PartCount(const rgModel* model, rgPartKind kind);
