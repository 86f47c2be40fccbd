// Robot description files: URDF, MJCF, SDF and mesh files into a model definition.
#pragma once
#include "rigor/model.h"

/// Base of the root of a URDF tree, the models of an SDF file, or the body of a mesh file. MJCF
/// files define it themselves and ignore this.
typedef enum rgBaseKind {
    rg_baseFromFile, ///< as the file says. URDF: fixed to the world unless it has a floating joint;
                     ///< SDF: free unless static or jointed to the world; a mesh file is a body
                     ///< that moves freely
    rg_baseFixed,    ///< fixed to the world, floating joints of the root included
    rg_baseFloating, ///< the root moves freely
} rgBaseKind;

/// Which mesh files are read. Shapes whose mesh is not read are left out, and one note says so.
typedef enum rgMeshUse {
    rg_meshesAll,
    rg_meshesCollision, ///< collision shapes only
    rg_meshesNone,      ///< dynamics without geometry: no mesh file is opened
} rgMeshUse;

/// Treatment of pairs of bodies of one robot whose shapes overlap at the start
/// (rgModel_StartConfiguration()), except neighbours, which never collide. One note has their
/// number; rgModelDef_ExcludedPairs() lists those that are ignored.
typedef enum rgSelfOverlap {
    rg_selfOverlapFromFile, ///< URDF, SDF: they are ignored. MJCF: they collide unless it excludes
                            ///< them, as in MuJoCo
    rg_selfOverlapKeep,     ///< they collide
    rg_selfOverlapIgnore,   ///< they do not collide, as pairs that planners disable
} rgSelfOverlap;

/// Start from rgDefaultLoadDef().
typedef struct rgLoadDef {
    int packageDirCount;
    const char* const* packageDirs; ///< where package://NAME/... is looked for: DIR/NAME, or DIR
                                    ///< itself when it is called NAME
    bool ignoreEnvironment;         ///< do not look into ROS_PACKAGE_PATH after packageDirs
    rgBaseKind base;
    rgMeshUse meshes;
    rgSelfOverlap selfOverlap;
    bool hulls; ///< URDF, SDF: a mesh of a moving link that is not convex becomes one hull, with a
                ///< warning, instead of several that leave its hollows open
    bool decompose; ///< MJCF: a mesh geom of a body that is not convex becomes several hulls; by
                    ///< default it collides as its one hull, as in MuJoCo
    const char* cacheFolder; ///< where such parts are kept; NULL: $XDG_CACHE_HOME/rigor, else
                             ///< ~/.cache/rigor, unless ignoreEnvironment; "": nowhere
    /// Called before a mesh is split into convex parts that the cache does not hold, which may take
    /// seconds; NULL: no call.
    void (*onSplit)(void* context, int triangleCount);
    void* onSplitContext;
    double sheetThickness; ///< URDF, SDF, mesh files: triangles of fixed bodies that have a border
                           ///< become closed sheets of this thickness [m], which stop bodies on
                           ///< both sides; 0: they stop bodies only on the side that they face
    bool strict;           ///< warnings are errors
    bool fileContact;    ///< MJCF: solref and solimp, where written, become stiffness and damping;
                         ///< otherwise contacts are rigid
    double boundMass;    ///< every body with a joint has at least this mass [kg]
    double boundInertia; ///< and its principal moments at least this [kg m^2], so that bodies
                         ///< without any can move (MJCF boundmass, boundinertia)
    double density;      ///< of a mesh file alone [kg/m^3]; 0: 1000
    double meshScale;    ///< of a mesh file alone, such as 0.001 for millimetres; 0: 1
    rgAllocator allocator;
    uint32_t cookie;
} rgLoadDef;

RG_API rgLoadDef rgDefaultLoadDef(void);

/// Read a robot description of any supported kind; the root element decides. A NULL def is the
/// default one. Remarks go to the diagnostics, each with file and line; on failure there is no
/// definition and, unless memory ran out, at least one error among them. The caller destroys the
/// definition. A path that is no file but the name of a built-in model, such as "humanoid", gives
/// that model. A mesh file (.obj, .stl, .dae) gives one body of its name, density and shape; a mesh
/// that is not convex becomes several hulls.
RG_API rgResult rgLoadModelDef(const char* path, const rgLoadDef* def, rgDiagnostics* diagnostics,
                               rgModelDef** model);
/// Read and compile in one call, for programs that change nothing in between.
RG_API rgResult rgLoadModel(const char* path, const rgLoadDef* def, rgDiagnostics* diagnostics,
                            rgModel** model);
/// As rgLoadModelDef from memory. The path names the text in remarks, and relative file names are
/// looked for in its folder; NULL means the current folder.
RG_API rgResult rgParseModelDef(const void* text, size_t byteCount, const char* path,
                                const rgLoadDef* def, rgDiagnostics* diagnostics,
                                rgModelDef** model);

/// As rgLoadModelDef and rgParseModelDef, for URDF only. See docs/formats/urdf.md.
RG_API rgResult rgLoadUrdf(const char* path, const rgLoadDef* def, rgDiagnostics* diagnostics,
                           rgModelDef** model);
RG_API rgResult rgParseUrdf(const void* text, size_t byteCount, const char* path,
                            const rgLoadDef* def, rgDiagnostics* diagnostics, rgModelDef** model);

/// As rgLoadModelDef and rgParseModelDef, for MJCF only. See docs/formats/mjcf.md.
RG_API rgResult rgLoadMjcf(const char* path, const rgLoadDef* def, rgDiagnostics* diagnostics,
                           rgModelDef** model);
RG_API rgResult rgParseMjcf(const void* text, size_t byteCount, const char* path,
                            const rgLoadDef* def, rgDiagnostics* diagnostics, rgModelDef** model);

/// As rgLoadModelDef and rgParseModelDef, for SDF only. See docs/formats/sdf.md.
RG_API rgResult rgLoadSdf(const char* path, const rgLoadDef* def, rgDiagnostics* diagnostics,
                          rgModelDef** model);
RG_API rgResult rgParseSdf(const void* text, size_t byteCount, const char* path,
                           const rgLoadDef* def, rgDiagnostics* diagnostics, rgModelDef** model);

/// A model that comes with the library: the files of models/, compiled in.
typedef struct rgBuiltinModel {
    const char* name; ///< "humanoid" for humanoid.xml; URDF files keep their ending
    const unsigned char* text;
    size_t byteCount;
} rgBuiltinModel;

RG_API int rgBuiltinModelCount(void);
/// NULL when there is none.
RG_API const rgBuiltinModel* rgBuiltinModelAt(int index);
RG_API const rgBuiltinModel* rgFindBuiltinModel(const char* name);

/// Write a definition as MJCF or URDF. Parts that the format cannot express are left out, and
/// named in warnings. URDF: meshes become OBJ files beside it.
RG_API rgResult rgSaveMjcf(const rgModelDef* def, const char* path, rgDiagnostics* diagnostics);
RG_API rgResult rgSaveUrdf(const rgModelDef* def, const char* path, rgDiagnostics* diagnostics);
/// By the ending of the name: .urdf, or .xml and .mjcf.
RG_API rgResult rgSaveModelDef(const rgModelDef* def, const char* path, rgDiagnostics* diagnostics);
