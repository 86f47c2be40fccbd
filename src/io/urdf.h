// Common to the parts of the URDF reader: links and joints as found in the file, before they
// become bodies.
#pragma once
#include "io/link_shape.h"

typedef struct rgUrdfLink {
    const char* name;
    const rgXmlNode* node;
    int parentJoint; // -1: a root
    int parentCount; // joints that claim it as child
    int firstJoint;  // first and last of the joints that start here, -1 without
    int lastJoint;
    bool reached;   // from the root
    bool isScenery; // fixed to the world, and no base of moving links
    int carrier;    // the link with a joint that moves and carries this one, maybe itself; -1: none
    bool isBare;    // it has such a joint, and neither it nor links fixed to it have an inertia
    bool hasInertia;
    rgInertia inertia;
    rgBodyId body; // null: the world itself
} rgUrdfLink;

typedef enum rgUrdfJointType {
    rg_urdfFixed,
    rg_urdfRevolute,
    rg_urdfContinuous,
    rg_urdfPrismatic,
    rg_urdfFloating,
    rg_urdfPlanar,
    rg_urdfSpherical,
} rgUrdfJointType;

typedef struct rgUrdfJoint {
    const char* name;
    const rgXmlNode* node;
    rgUrdfJointType type;
    int parent, child; // links, -1 when unknown
    int next;          // joint with the same parent, in file order; -1: none
    rgJointId id;      // null for fixed joints
    bool isLocked;     // it moves nothing that has a mass
} rgUrdfJoint;

typedef struct rgUrdf {
    rgXmlReader xml;
    const rgLoadDef* def;
    rgXmlNode* root;
    rgModelDef* model;
    rgArena arena;
    rgLinkMeshes meshes;
    rgUrdfLink* links;
    int linkCount;
    rgIndexedName* linkNames;
    rgUrdfJoint* joints;
    int jointCount;
    rgIndexedName* jointNames;
    const rgXmlNode** materials; // definitions: those of the robot, then those of visuals
    int materialCount;
    rgIndexedName* materialNames;
    const rgXmlNode** gazebos; // in file order
    int gazeboCount;
    rgIndexedName* gazeboNames; // links that they refer to
    int rootLink;
    rgFrictionRule frictionRule; // rule of <rigor>
    bool hasDuplicates;          // names that occur twice: no tree can be made of them
    bool worldRoot;              // the root link is the world itself
    bool notedSoftness;          // about stiffness that is not used
    rgResult result;             // first failure that is not a matter of the file (memory)
} rgUrdf;

// "; did you mean ...?" of these names, or nothing.
void rgUrdf_Suggest(rgUrdf* urdf, const rgIndexedName* names, int count, const char* name,
                    char out[100]);

// <origin xyz rpy> of an element; identity without it.
rgPose rgUrdf_Origin(rgUrdf* urdf, const rgXmlNode* node);
// Warn about a second element of a kind that may stand once.
void rgCheckUrdfSingle(rgXmlReader* reader, const rgXmlNode* node, const char* const* names);

void rgUrdf_ReadInertial(rgUrdf* urdf, rgUrdfLink* link); // urdf_link.c
// Colour of a material; false when it has none. A quiet reader gives no messages.
bool rgReadUrdfColor(rgXmlReader* reader, const rgXmlNode* material, float color[4]);
void rgUrdf_AddShapes(rgUrdf* urdf, const rgUrdfLink* link);             // urdf_shape.c
rgMaterial rgUrdf_ContactMaterial(rgUrdf* urdf, const rgUrdfLink* link); // urdf_material.c
void rgUrdf_ReadJoint(rgUrdf* urdf, rgUrdfJoint* joint); // urdf_joint.c: names, type
void rgUrdf_AddJoint(rgUrdf* urdf, rgUrdfJoint* joint, rgBodyId body);
void rgUrdf_AddMimic(rgUrdf* urdf, const rgUrdfJoint* joint);
// Masses for links that move nothing heavy; `order`: links, parents first. urdf_inertia.c
void rgUrdf_AddInertias(rgUrdf* urdf, const int* order, int count);
bool rgUrdfJoint_Moves(const rgUrdf* urdf, const rgUrdfJoint* joint);
