// Robot description files of any kind: the root element chooses the reader.
#include "io/load.h"

#include "io/file.h"
#include "io/overlap.h"
#include "model/def.h"
#include "rigor/inertia.h"

#include <string.h>

const rgXmlWord rgFrictionRuleWords[5] = {{"geometric", rg_frictionGeometric},
                                          {"average", rg_frictionAverage},
                                          {"minimum", rg_frictionMinimum},
                                          {"maximum", rg_frictionMaximum},
                                          {NULL, 0}};

const char* rgFrictionRuleWord(rgFrictionRule rule) {
    return rgFrictionRuleWords[rule > rg_frictionGeometric ? rule - rg_frictionGeometric : 0].word;
}

typedef struct rgModelFormat {
    const char* root; // name of the root element
    rgReadModelFcn* read;
    rgSelfOverlap selfOverlap; // policy of files that set none
} rgModelFormat;

static const rgModelFormat formats[] = {
    {"robot", rgReadUrdf, rg_selfOverlapIgnore},
    {"mujoco", rgReadMjcf, rg_selfOverlapKeep},
    {"sdf", rgReadSdf, rg_selfOverlapIgnore},
};

rgLoadDef rgDefaultLoadDef(void) {
    return (rgLoadDef){.cookie = RG_LOAD_COOKIE};
}

static const rgModelFormat* rgFindFormat(const char* root) {
    for (int i = 0; i < RG_COUNT(formats); ++i) {
        if (strcmp(formats[i].root, root) == 0) {
            return &formats[i];
        }
    }
    return NULL;
}

// Lift mass and principal moments of bodies with joints to the least that the def allows. A message
// gives their number.
static rgResult rgBoundInertias(rgModelDef* model, const rgLoadDef* def, rgDiagnostics* diagnostics,
                                const rgXmlNode* root) {
    int lifted = 0;
    for (int i = 0; i < model->jointCount; ++i) {
        rgBodyId id = model->joints[i].body;
        rgBodyDef body = *rgModelDef_Body(model, id);
        rgQuat axes = rgQuatIdentity();
        rgVec3 p = rgSym3Eigen(&body.inertia.moment, &axes);
        if (body.inertia.mass >= def->boundMass && p.z >= def->boundInertia) {
            continue;
        }
        rgSym3 moments = {.xx = RG_MAX(p.x, def->boundInertia),
                          .yy = RG_MAX(p.y, def->boundInertia),
                          .zz = RG_MAX(p.z, def->boundInertia)};
        body.inertia.mass = RG_MAX(body.inertia.mass, def->boundMass);
        body.inertia.moment = rgSym3Rotate(axes, &moments);
        rgResult result = rgModelDef_SetBody(model, id, &body);
        if (result != rg_ok) {
            return result;
        }
        lifted += 1;
    }
    if (lifted > 0) {
        rgDiagnostics_Add(
            diagnostics, rg_severityNote, root->file, root->line,
            "bodies with joints have at least %g kg and %g kg m^2, as requested (%d changed)",
            def->boundMass, def->boundInertia, lifted);
    }
    return rg_ok;
}

static rgResult rgReadRoot(const char* rootName, rgXmlTree* tree, rgXmlNode* root,
                           const rgLoadDef* def, rgDiagnostics* diagnostics, rgModelDef** model) {
    const rgModelFormat* format = rgFindFormat(root->name);
    bool wanted = format != NULL && (rootName == NULL || strcmp(rootName, root->name) == 0);
    if (wanted) {
        rgModelDef* read = NULL;
        rgResult result = format->read(tree, root, def, diagnostics, &read);
        if (result == rg_ok && (def->boundMass > 0 || def->boundInertia > 0)) {
            result = rgBoundInertias(read, def, diagnostics, root);
        }
        if (result == rg_ok) {
            rgSource source = {.file = root->file, .line = root->line};
            result = rgExcludeSelfOverlaps(read, def, format->selfOverlap, source, diagnostics);
        }
        if (result != rg_ok) {
            rgDestroyModelDef(read);
            return result;
        }
        *model = read;
        return rg_ok;
    }
    if (rootName != NULL) {
        rgDiagnostics_Add(diagnostics, rg_severityError, root->file, root->line,
                          "the root element is <%.60s>, not <%s>", root->name, rootName);
    } else {
        rgDiagnostics_Add(diagnostics, rg_severityError, root->file, root->line,
                          "the root element <%.60s> is of no known format (<robot> is URDF, "
                          "<mujoco> is MJCF, <sdf> is SDF)",
                          root->name);
    }
    return rg_errorFormat;
}

static bool rgLoadDef_IsGood(const rgLoadDef* def, const char* path, rgDiagnostics* diagnostics) {
    const struct {
        const char* name;
        double value;
    } numbers[] = {{"least mass", def->boundMass},
                   {"least moment of inertia", def->boundInertia},
                   {"density", def->density},
                   {"scale of meshes", def->meshScale}};
    bool good = def->cookie == RG_LOAD_COOKIE && def->packageDirCount >= 0 &&
                (def->packageDirCount == 0 || def->packageDirs != NULL);
    for (int i = 0; i < RG_COUNT(numbers); ++i) {
        if (!(numbers[i].value >= 0 && numbers[i].value < 1e12)) {
            rgDiagnostics_Add(diagnostics, rg_severityError, path, 0,
                              "the %s is %g; it must be at least 0 and below 1e12", numbers[i].name,
                              numbers[i].value);
            good = false;
        }
    }
    return good;
}

rgResult rgLoadAs(const char* rootName, const char* path, const void* text, size_t byteCount,
                  const rgLoadDef* def, rgDiagnostics* diagnostics, rgModelDef** model) {
    rgLoadDef used = def != NULL ? *def : rgDefaultLoadDef();
    if (model == NULL || !rgLoadDef_IsGood(&used, path, diagnostics)) {
        return rg_errorArgument;
    }
    if (rootName == NULL && text == NULL && rgIsMeshPath(path)) {
        return rgLoadMeshModel(path, &used, diagnostics, model);
    }
    rgXmlTree* tree = NULL;
    rgResult result = rgCreateXmlTree(&used.allocator, &tree);
    if (result != rg_ok) {
        return result;
    }
    rgXmlTree_KeepText(tree); // SDF has poses as text
    if (used.strict) {
        rgXmlTree_SetStrict(tree);
    }
    rgXmlNode* root = NULL;
    result = text != NULL ? rgXmlTree_Parse(tree, text, byteCount, path, diagnostics, &root)
                          : rgXmlTree_Load(tree, path, diagnostics, &root);
    if (result == rg_ok) {
        result = rgReadRoot(rootName, tree, root, &used, diagnostics, model);
    }
    rgDestroyXmlTree(tree);
    return result;
}

// A name that is no path was meant for a model that comes with the library.
static rgResult rgReportUnknownModel(const char* name, rgDiagnostics* diagnostics) {
    const char* names[64];
    int count = 0;
    for (; count < rgBuiltinModelCount() && count < RG_COUNT(names); ++count) {
        names[count] = rgBuiltinModelAt(count)->name;
    }
    int nearest = rgNearestName(name, names, count);
    rgDiagnostics_Add(diagnostics, rg_severityError, name, 0,
                      "is neither a file nor a built-in model%s%s%s",
                      nearest >= 0 ? "; did you mean '" : "", nearest >= 0 ? names[nearest] : "",
                      nearest >= 0 ? "'?" : "");
    return rg_errorFile;
}

rgResult rgLoadModelDef(const char* path, const rgLoadDef* def, rgDiagnostics* diagnostics,
                        rgModelDef** model) {
    if (path == NULL) {
        return rg_errorArgument;
    }
    bool isFile = rgFileExists(path);
    const rgBuiltinModel* builtin = isFile ? NULL : rgFindBuiltinModel(path);
    if (!isFile && builtin == NULL && strpbrk(path, "./") == NULL) {
        return rgReportUnknownModel(path, diagnostics);
    }
    return builtin != NULL
               ? rgLoadAs(NULL, path, builtin->text, builtin->byteCount, def, diagnostics, model)
               : rgLoadAs(NULL, path, NULL, 0, def, diagnostics, model);
}

rgResult rgLoadModel(const char* path, const rgLoadDef* def, rgDiagnostics* diagnostics,
                     rgModel** model) {
    rgModelDef* read = NULL;
    rgResult result =
        model != NULL ? rgLoadModelDef(path, def, diagnostics, &read) : rg_errorArgument;
    if (result == rg_ok) {
        result = rgCompileModel(read, def != NULL ? &def->allocator : NULL, diagnostics, model);
        rgDestroyModelDef(read);
    }
    return result;
}

rgResult rgParseModelDef(const void* text, size_t byteCount, const char* path, const rgLoadDef* def,
                         rgDiagnostics* diagnostics, rgModelDef** model) {
    return text == NULL ? rg_errorArgument
                        : rgLoadAs(NULL, path, text, byteCount, def, diagnostics, model);
}

rgResult rgLoadUrdf(const char* path, const rgLoadDef* def, rgDiagnostics* diagnostics,
                    rgModelDef** model) {
    return path == NULL ? rg_errorArgument
                        : rgLoadAs("robot", path, NULL, 0, def, diagnostics, model);
}

rgResult rgParseUrdf(const void* text, size_t byteCount, const char* path, const rgLoadDef* def,
                     rgDiagnostics* diagnostics, rgModelDef** model) {
    return text == NULL ? rg_errorArgument
                        : rgLoadAs("robot", path, text, byteCount, def, diagnostics, model);
}

rgResult rgLoadSdf(const char* path, const rgLoadDef* def, rgDiagnostics* diagnostics,
                   rgModelDef** model) {
    return path == NULL ? rg_errorArgument
                        : rgLoadAs("sdf", path, NULL, 0, def, diagnostics, model);
}

rgResult rgParseSdf(const void* text, size_t byteCount, const char* path, const rgLoadDef* def,
                    rgDiagnostics* diagnostics, rgModelDef** model) {
    return text == NULL ? rg_errorArgument
                        : rgLoadAs("sdf", path, text, byteCount, def, diagnostics, model);
}
