// Readers of robot description files: one function per root element, in the table of load.c.
#pragma once
#include "io/xml.h"
#include "rigor/io.h"

#define RG_LOAD_COOKIE 0x4c6f6144u

// Make a definition from a parsed file. `root` is in `tree`, to which a reader may add included
// files. On failure there is at least one error in the diagnostics and *model is untouched.
typedef rgResult rgReadModelFcn(rgXmlTree* tree, rgXmlNode* root, const rgLoadDef* def,
                                rgDiagnostics* diagnostics, rgModelDef** model);

// A mesh file alone, by its ending: one body. mesh_model.c
bool rgIsMeshPath(const char* path);
rgResult rgLoadMeshModel(const char* path, const rgLoadDef* load, rgDiagnostics* diagnostics,
                         rgModelDef** model);

rgReadModelFcn rgReadUrdf; // <robot>
rgReadModelFcn rgReadMjcf; // <mujoco>
rgReadModelFcn rgReadSdf;  // <sdf>

extern const rgXmlWord rgFrictionRuleWords[5]; // values: rgFrictionRule
const char* rgFrictionRuleWord(rgFrictionRule rule);

// Parse the text (NULL: the file at path) and read it. A root name other than NULL is the only one
// accepted.
rgResult rgLoadAs(const char* rootName, const char* path, const void* text, size_t byteCount,
                  const rgLoadDef* def, rgDiagnostics* diagnostics, rgModelDef** model);
