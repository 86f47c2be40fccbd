// Common to the parts of the MJCF reader. One file per section: mjcf_body.c, mjcf_geom.c ... The
// reader follows MuJoCo 3: attributes left out take the value of the element's default class, then
// that of the classes around it, then the built-in one. See docs/formats/mjcf.md.
#pragma once
#include "io/file.h"
#include "io/load.h"
#include "model/def.h"
#include "rigor/inertia.h"

// Names of one kind of part, to its number.
typedef struct rgMjNames {
    struct rgMjName* slots; // power of two; open addressing
    int capacity, count;
} rgMjNames;

// A default class: the <default> elements that wrote it, and the class around it.
typedef struct rgMjClass {
    const char* name;
    int parent;              // -1: the top class
    const rgXmlNode** nodes; // in the order read
    int nodeCount, nodeCapacity;
} rgMjClass;

typedef enum rgMjInertiaFromGeom {
    rg_mjInertiaFalse,
    rg_mjInertiaTrue,
    rg_mjInertiaAuto
} rgMjInertiaFromGeom;

typedef struct rgMjCompiler {
    double angleScale; // file's angle to radians
    char eulerSequence[4];
    bool autoLimits, balanceInertia, stripPath, fitsBounds;
    int inertiaFromGeom; // rgMjInertiaFromGeom
    int groupRange[2];
    double boundMass, boundInertia, totalMass;
    const char* meshDir;
} rgMjCompiler;

// Position and orientation; the last word on orientation is euler, axisangle, xyaxes or zaxis where
// one of them is given.
typedef enum rgMjTurn {
    rg_mjTurnQuat,
    rg_mjTurnEuler,
    rg_mjTurnAxisAngle,
    rg_mjTurnXyAxes,
    rg_mjTurnZAxis
} rgMjTurn;
typedef struct rgMjPlace {
    double pos[3], quat[4];
    rgMjTurn turn;
    double values[6];
} rgMjPlace;

// Softness as the file has it: solref and the largest impedance of solimp.
typedef struct rgMjSoftness {
    bool isSet; // written in the file, by the element or a class
    double solref[2], solimp[5];
} rgMjSoftness;

typedef enum rgMjGeomType {
    rg_mjPlane,
    rg_mjHfield,
    rg_mjSphere,
    rg_mjCapsule,
    rg_mjEllipsoid,
    rg_mjCylinder,
    rg_mjBox,
    rg_mjMesh,
    rg_mjOther
} rgMjGeomType;

typedef struct rgMjGeom {
    const char* name;
    int type; // rgMjGeomType
    double size[3];
    int sizeCount;
    bool hasFromTo, hasMass, hasColor, shell;
    double fromTo[6];
    rgMjPlace place;
    double mass, density;
    double friction[3];
    int condim, contype, conaffinity, group, priority;
    double margin, gap;
    double surface[6]; // velocity of the surface: linear, angular
    int fluid;         // index of fluidShapes
    double adhesion;
    double fluidCoefficients[5];
    rgMjSoftness softness;
    const char* mesh;
    double fitScale; // scale of a primitive that is fitted to a mesh
    const char* hfield;
    const char* material;
    double color[4];
} rgMjGeom;

typedef enum rgMjMeshInertia {
    rg_mjMeshLegacy,
    rg_mjMeshExact,
    rg_mjMeshConvex,
    rg_mjMeshShell
} rgMjMeshInertia;
typedef struct rgMjMesh {
    const char* name;
    const rgXmlNode* node;
    bool isLoaded, isBroken; // read on first use
    rgMeshData data;         // scaled, in the arena
    int inertia;             // rgMjMeshInertia
} rgMjMesh;

typedef struct rgMjField {
    const char* name;
    rgHeightFieldData data;
} rgMjField;

// Beside def->bodies.
typedef struct rgMjBody {
    rgPose world;       // at the reference configuration
    rgQuat inertiaAxes; // principal axes as MuJoCo has them, where they are known
    bool axesKnown;
    int root;        // number of the body below the world that carries this one
    double treeMass; // mass of a root's tree; rgMjcf_SetTotalMass
    bool treeMoves;  // true for a root with a joint on it or above
} rgMjBody;

// Values of an actuator that follow from the model at its reference configuration.
typedef struct rgMjReflected {
    double dampRatio;   // 0: none
    double muscleScale; // force scale of muscles whose force is not given
} rgMjReflected;

// Switches of <flag> that change the motion.
typedef enum rgMjSwitch {
    rg_mjSwitchConstraint,
    rg_mjSwitchEquality,
    rg_mjSwitchFriction,
    rg_mjSwitchLimit,
    rg_mjSwitchContact,
    rg_mjSwitchPassive,
    rg_mjSwitchSpring,
    rg_mjSwitchDamper,
    rg_mjSwitchGravity,
    rg_mjSwitchClamp,
    rg_mjSwitchActuation,
    rg_mjSwitchParent,
    rg_mjSwitchCount
} rgMjSwitch;

// Rule of collision between geoms: by masks and explicit pairs, or only by one of them.
typedef enum rgMjCollision { rg_mjCollideAll, rg_mjCollidePairs, rg_mjCollideMasks } rgMjCollision;

// Number of parts of each kind.
typedef struct rgMjCounts {
    int bodies, joints, shapes, frames, tendons, actuators, equalities, sensors;
} rgMjCounts;

typedef struct rgMjcf {
    rgXmlReader reader;
    rgXmlTree* tree;
    const rgLoadDef* load;
    rgModelDef* def; // grows
    rgResult result; // first failure that is not about the file, such as memory
    rgArena arena;
    const char* folder; // folder of the main file
    int depth;          // depth of models within models
    rgMjCompiler compiler;
    bool isOff[rg_mjSwitchCount];
    int collision;           // rgMjCollision
    uint32_t disabledGroups; // bits: groups of actuators
    rgMjClass* classes;
    int classCount, classCapacity;
    rgMjMesh* meshes;
    int meshCount, meshCapacity;
    rgMjField* fields;
    int fieldCount, fieldCapacity;
    const rgXmlNode** models; // files that <attach> names
    int modelCount, modelCapacity;
    double (*colors)[4]; // colors of materials
    int colorCount, colorCapacity;
    rgMjBody* bodies; // body k has the id k + 1, as in def
    int bodyCapacity;
    rgMjGeom* geoms; // beside def->shapes
    int geomCapacity;
    double (*springDampers)[2]; // time constant and damping ratio, beside def->joints
    int springCapacity;
    rgMjReflected* reflected; // beside def->actuators
    int reflectedCapacity;
    rgMjCounts attached; // parts that came with bodies of other files
    rgMjNames bodyNames, jointNames, geomNames, siteNames, tendonNames, actuatorNames, meshNames,
        fieldNames, modelNames, materialNames, classNames, sensorNames, equalityNames, keyNames;
    rgMjNames cameraNames; // of frames
    rgMjNames leftGeoms;   // not supported or not read, after a message
    double* siteSizes;     // bounding radius, beside def->frames
    int siteCapacity;
    bool meshesTold;              // that meshes are not read
    bool missingTold;             // that a mesh file is missing
    const rgXmlNode* softNode;    // first element with soft contacts
    const rgXmlNode* torsionNode; // first element that writes torsional friction
} rgMjcf;

// mjcf.c
bool rgMjcf_Failed(const rgMjcf* m);           // true after an error or out of memory
void rgMjcf_Check(rgMjcf* m, rgResult result); // keeps the first failure
void* rgMjcf_Grow(rgMjcf* m, void** array, int* capacity, int used,
                  size_t size); // room for one more; its address
rgSource rgMjcf_Source(const rgXmlNode* node);
// Read MJCF as rgReadMjcf does, at `depth` models within models.
rgResult rgReadMjcfAt(rgXmlTree* tree, rgXmlNode* root, const rgLoadDef* def,
                      rgDiagnostics* diagnostics, int depth, rgModelDef** model);

// mjcf_names.c: numbers from 0; -1 when there is none. Add reports a repeated name as an error.
void rgMjNames_Add(rgMjcf* m, rgMjNames* names, const rgXmlNode* node, const char* name,
                   int number);
int rgMjNames_Find(const rgMjNames* names, const char* name);
const char* rgMjNames_Of(const rgMjNames* names, int number); // NULL: it has none
// "; did you mean ...?" of the names that there are, or nothing.
void rgMjcf_Suggest(rgMjcf* m, const rgMjNames* names, const char* name, char out[100]);
// Number of the part that an attribute names; -1 and an error unless it exists. Bodies count from
// 1: 0 is the world. `kind` is for the message.
int rgMjcf_Lookup(rgMjcf* m, const rgMjNames* names, const rgXmlNode* node, const char* attribute,
                  const char* kind);

// mjcf_camera.c
void rgMjcf_ReadCamera(rgMjcf* m, const rgXmlNode* node, rgBodyId body, int class, rgPose frame);
void rgMjcf_NameCameras(rgMjcf* m, const rgXmlNode* root);

// mjcf_default.c
void rgMjcf_ReadDefaults(rgMjcf* m, const rgXmlNode* root);
// Class of an element: its own, or the one handed down.
int rgMjcf_Class(rgMjcf* m, const rgXmlNode* node, const char* attribute, int inherited);
// Calls apply for each element called one of `names` in the class and those around it, outermost
// first.
typedef void rgMjApplyFcn(rgMjcf* m, const rgXmlNode* node, void* value);
void rgMjcf_ApplyClass(rgMjcf* m, int class, const char* const* names, rgMjApplyFcn* apply,
                       void* value);

// mjcf_read.c
extern const rgXmlWord rgMjBoolWords[3], rgMjAutoWords[4];
void rgMjcf_Flag(rgMjcf* m, const rgXmlNode* node, const char* name, bool* value);
void rgMjcf_ReadPlace(rgMjcf* m, const rgXmlNode* node, rgMjPlace* place);
rgMjPlace rgMjcf_NoPlace(void);
rgPose rgMjcf_Pose(rgMjcf* m, const rgXmlNode* node, const rgMjPlace* place);
rgQuat rgMjcf_TurnZ(rgVec3 axis); // takes z to axis, as MuJoCo does
// True if limits hold: the word, or the range where the word is auto (2).
bool rgMjcf_Limited(rgMjcf* m, const rgXmlNode* node, const char* what, int limited,
                    const double range[2]);
// Warn when the attribute is there and has a value other than zero, false or "none".
void rgMjcf_Unsupported(rgMjcf* m, const rgXmlNode* node, const char* const* names);
void rgMjcf_ReadSoftness(rgMjcf* m, const rgXmlNode* node, const char* ref, const char* imp,
                         rgMjSoftness* softness);
// Linear term of a polynomial stiffness or damping; other terms give a warning.
void rgMjcf_ReadLinear(rgMjcf* m, const rgXmlNode* node, const char* name, double* value);
rgMjSoftness rgMjcf_NoSoftness(void);
// Stiffness and damping of a softness that holds between masses that act as one of mass [kg].
void rgMjcf_Spring(const rgMjSoftness* softness, double mass, double* stiffness, double* damping);

// mjcf_option.c
void rgMjcf_ReadCompiler(rgMjcf* m, const rgXmlNode* root);
void rgMjcf_ReadOption(rgMjcf* m, const rgXmlNode* root);
void rgMjcf_Include(rgMjcf* m, rgXmlNode* root);

// mjcf_flag.c
void rgMjcf_ReadFlags(rgMjcf* m, const rgXmlNode* node);
void rgMjcf_Switch(rgMjcf* m, const rgXmlNode* root); // needs everything

// mjcf_replicate.c
void rgMjcf_Replicate(rgMjcf* m, rgXmlNode* root);
// Suffix of names within the copies around an element: separators and numbers, innermost first; or
// NULL.
const char* rgMjcf_ReplicaSuffix(rgMjcf* m, const rgXmlNode* node);
rgPose rgMjcf_ReplicaPose(rgMjcf* m, const rgXmlNode* node); // one copy in the frame around

// mjcf_asset.c
void rgMjcf_ApplyMesh(rgMjcf* m, const rgXmlNode* node, void* value);
void rgMjcf_ReadAssets(rgMjcf* m, const rgXmlNode* root);
// The file's name without folder and extension, as MuJoCo names unnamed assets; in the arena.
const char* rgMjcf_FileStem(rgMjcf* m, const char* file);
// Read the mesh on first use; NULL when it cannot be read, after a message (an error if `matters`,
// else a warning).
const rgMjMesh* rgMjcf_UseMesh(rgMjcf* m, int mesh, const rgXmlNode* user, bool matters);

// mjcf_mesh.c
// The mesh that builtin and params describe; mjcf_builtin.c.
bool rgMjMesh_MakeBuiltin(rgMjcf* m, rgMjMesh* mesh, const char* kind);
// Inertia at density 1 by the mesh's `inertia` rule or, if `shell`, of a shell of unit mass per
// area. False: it has none.
bool rgMjMesh_Inertia(const rgMjMesh* mesh, bool shell, const rgAllocator* allocator,
                      rgInertia* inertia);

// mjcf_schema.c: attributes that nobody read.
void rgMjcf_CheckUnread(rgMjcf* m, const rgXmlNode* root);

// mjcf_attach.c
void rgMjcf_AddModel(rgMjcf* m, const rgXmlNode* node);
void rgMjcf_Attach(rgMjcf* m, const rgXmlNode* node, rgBodyId parent, rgPose frame);
void rgMjcf_CountAttached(rgMjcf* m, const rgXmlNode* root);
void rgMjcf_OrderAttached(rgMjcf* m, const rgXmlNode* root);

// mjcf_body.c
void rgMjcf_ReadBodies(rgMjcf* m, const rgXmlNode* root);
bool rgMjcf_IsFrame(const rgXmlNode* node); // only moves its children

// mjcf_joint.c
void rgMjcf_ApplyJoint(rgMjcf* m, const rgXmlNode* node, void* value);
void rgMjcf_ReadJoint(rgMjcf* m, const rgXmlNode* node, rgBodyId body, int class, rgPose frame);

// mjcf_geom.c
// Adds the shape; gives its inertia in the body frame, of zero mass when it does not count.
rgInertia rgMjcf_ReadGeom(rgMjcf* m, const rgXmlNode* node, rgBodyId body, int class, rgPose frame);
void rgMjcf_ApplyGeom(rgMjcf* m, const rgXmlNode* node, void* value);
void rgMjcf_ApplySite(rgMjcf* m, const rgXmlNode* node, void* value);
void rgMjcf_ReadSite(rgMjcf* m, const rgXmlNode* node, rgBodyId body, int class, rgPose frame);

// mjcf_fit.c
// The size of a primitive fitted to its mesh, and where it is. False after an error.
bool rgMjcf_Fit(rgMjcf* m, const rgXmlNode* node, rgMjGeom* g, const rgMjMesh* mesh, rgPose* pose);

// mjcf_inertia.c
// From <inertial>, or from the geoms: `fromGeoms` is their sum.
void rgMjcf_SetInertia(rgMjcf* m, const rgXmlNode* body, int number, const rgInertia* fromGeoms,
                       int geomCount, rgQuat geomAxes);
bool rgMjcf_HasInertial(const rgXmlNode* body); // with a mass
void rgMjcf_SetTotalMass(rgMjcf* m, const rgXmlNode* root);
// Mass of the tree that carries the body; infinite when it is fixed to the world.
double rgMjcf_TreeMass(const rgMjcf* m, rgBodyId body);
double rgMjcf_ReducedMass(double a, double b); // a b / (a + b); of two infinite ones: 1

// mjcf_material.c
// Numbers of a material that MJCF has no attribute for: <numeric name="rigor:NAME[:GEOM]">.
typedef struct rgMjProperty {
    const char* name;
    size_t offset; // in rgMaterial
} rgMjProperty;
enum { RG_MJ_PROPERTY_COUNT = 8 };
extern const rgMjProperty rgMjProperties[RG_MJ_PROPERTY_COUNT];
double* rgMjProperty_Of(const rgMjProperty* property, rgMaterial* material);
void rgMjcf_ReadCustom(rgMjcf* m, const rgXmlNode* root); // needs all geoms
double rgMjcf_Restitution(const rgMjSoftness* softness);  // for a negative solref; 0: not given
// Stiffness and damping of a contact between masses that act as one of mass [kg].
void rgMjcf_ContactSpring(const rgMjcf* m, const rgMjSoftness* softness, double mass,
                          rgMaterial* material);
void rgMjcf_SetSoftness(rgMjcf* m); // needs all masses
void rgMjcf_DropTorsion(rgMjcf* m); // needs all pairs

// mjcf_contact.c
void rgMjcf_ApplyPair(rgMjcf* m, const rgXmlNode* node, void* value);
void rgMjcf_ApplyEquality(rgMjcf* m, const rgXmlNode* node, void* value);
void rgMjcf_ReadContacts(rgMjcf* m, const rgXmlNode* root);
void rgMjcf_ReadEqualities(rgMjcf* m, const rgXmlNode* root);

// mjcf_tendon.c
void rgMjcf_ApplyTendon(rgMjcf* m, const rgXmlNode* node, void* value);
void rgMjcf_ReadTendons(rgMjcf* m, const rgXmlNode* root);

// mjcf_actuator.c
void rgMjcf_ApplyActuator(rgMjcf* m, const rgXmlNode* node, void* value);
void rgMjcf_ReadActuators(rgMjcf* m, const rgXmlNode* root);

// mjcf_reflect.c
void rgMjcf_SetReflected(rgMjcf* m, const rgXmlNode* root); // needs joints and actuators

// An actuator that is not supported and does nothing. mjcf_actuator.c
bool rgMjcf_IsIdle(const rgModelDef* def, const rgActuatorDef* actuator);

// mjcf_sensor.c: frame for a sensor that is not on a site.
rgFrameId rgMjcf_AddOwnFrame(rgMjcf* m, const rgXmlNode* node, rgBodyId body, rgPose pose);
void rgMjcf_ReadSensors(rgMjcf* m, const rgXmlNode* root);

// mjcf_key.c
void rgMjcf_ReadKeys(rgMjcf* m, const rgXmlNode* root);
