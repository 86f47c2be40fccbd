// Common to the parts of the SDF reader: everything with a frame of its own, in the order of the
// file, before it becomes bodies and joints.
#pragma once
#include "io/link_shape.h"

#define RG_PI            3.14159265358979323846
#define RG_SDF_MAX_PARTS 1000000
#define RG_SDF_MAX_DEPTH 8 // depth of includes

typedef enum rgSdfKind {
    rg_sdfLink, // first kind: it is chosen if a name occurs twice
    rg_sdfJoint,
    rg_sdfFrame,
    rg_sdfModel,
} rgSdfKind;

typedef enum rgSdfJointType {
    rg_sdfFixed,
    rg_sdfRevolute,
    rg_sdfContinuous,
    rg_sdfPrismatic,
    rg_sdfBall,
    rg_sdfUniversal, // and revolute2: two axes, one after the other
    rg_sdfScrew,
    rg_sdfGearbox,
} rgSdfJointType;

typedef struct rgSdfPart {
    rgSdfKind kind;
    const rgXmlNode* node;
    const char* name;     // in its scope
    const char* fullName; // model::link
    int scope;            // the model that holds it and whose names it sees
    int model;    // model that __model__ refers to: the scope, or the frame of a merged model
    int version;  // version of its file: 107 for 1.7
    rgPose local; // in the frame of `relative`
    int relative;
    int attached; // the part that it is fixed to; a link or the world: itself
    int link;     // the link at the end of that, 0 for the world, -1 before it is known
    rgPose world;
    bool resolved;
    // Models.
    const rgXmlNode* pose; // the <pose> that holds: of the include, or its own
    const char* prefix;    // prefix of full names inside
    const char* placement; // frame that the pose is that of; NULL: its own
    bool isStatic;         // links: fixed to the world for whatever reason
    bool isScenery;        // links: static, and no base of moving ones
    bool selfCollides;
    // Links.
    int group;     // group of links that joints connect: an earlier link, or itself
    int treeJoint; // that moves it; -1: none
    int firstChild, lastChild, nextChild; // links that joints of the tree move against it
    bool collides;
    rgBodyId body;
    // Joints.
    rgSdfJointType type;
    int parent, child; // links, -1 when unknown
    rgJointId ids[2];  // ids of both axes
} rgSdfPart;

typedef struct rgSdf {
    rgXmlReader xml;
    rgXmlTree* tree;
    const rgLoadDef* def;
    rgModelDef* model;
    rgArena arena;
    rgLinkMeshes meshes;
    rgSdfPart* parts; // 0 is the world
    int partCount, partCapacity;
    int* order;              // parts by scope, name and kind
    int version;             // version of the file that is being collected
    int depth;               // depth of includes
    rgIndexedName* included; // paths and which of `roots` they are; not sorted
    const rgXmlNode** roots;
    int includedCount, includedCapacity, rootCapacity;
    bool notedSoftness; // about stiffness that is not used
    rgResult result;    // first failure that is not a matter of the file (memory)
} rgSdf;

// sdf_read.c: elements that hold numbers and words. Warn about unknown children, and report skipped
// ones. `skipped` has pairs of a name and its consequence, and ends with NULL; a consequence that
// starts with '!' warns.
void rgSdf_CheckChildren(rgSdf* sdf, const rgXmlNode* node, const char* const* known,
                         const char* const* skipped);
const char* rgSdf_Text(const rgXmlNode* node, const char* name); // text of a child; NULL: none
// True when the child is there and good; otherwise the value is left as it was.
bool rgSdf_Number(rgSdf* sdf, const rgXmlNode* node, const char* name, double* value);
bool rgSdf_NotNegative(rgSdf* sdf, const rgXmlNode* node, const char* name, double* value);
bool rgSdf_Bool(rgSdf* sdf, const rgXmlNode* node, const char* name, bool* value);
bool rgSdf_Vector(rgSdf* sdf, const rgXmlNode* node, const char* name, rgVec3* value);
rgPose rgSdf_ReadPose(rgSdf* sdf, const rgXmlNode* pose); // NULL: identity

// sdf_part.c
void rgSdf_Collect(rgSdf* sdf, const rgXmlNode* root);
void rgSdf_SortNames(rgSdf* sdf);
// The part of that name as `from` sees it; -1 when there is none.
int rgSdf_Find(const rgSdf* sdf, const rgSdfPart* from, const char* name);
// sdf_include.c: the <model> that an <include> names; NULL and an error when there is none.
const rgXmlNode* rgSdf_Included(rgSdf* sdf, const rgXmlNode* include);
int rgSdf_ReadVersion(rgSdf* sdf, const rgXmlNode* root);

// sdf_pose.c: find the pose of every part and the part it is fixed to.
void rgSdf_Resolve(rgSdf* sdf);

// sdf_joint.c
void rgSdf_ReadJoint(rgSdf* sdf, rgSdfPart* joint); // type and ends, before poses are resolved
void rgSdf_BuildTree(rgSdf* sdf);
// The joint of the tree that moves a link, added to its body.
void rgSdf_AddJoint(rgSdf* sdf, rgSdfPart* link);
void rgSdf_AddLoop(rgSdf* sdf, const rgSdfPart* joint);
void rgSdf_AddMimic(rgSdf* sdf, const rgSdfPart* joint);

// sdf_link.c and sdf_shape.c
rgInertia rgSdf_ReadInertial(rgSdf* sdf, const rgSdfPart* link, bool* isAuto);
void rgSdf_AddShapes(rgSdf* sdf, rgSdfPart* link, rgInertia* sum); // `sum`: of solid collisions
void rgSdf_ReadSurface(rgSdf* sdf, const rgXmlNode* collision, rgShapeDef* def);
