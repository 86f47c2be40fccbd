// MJCF: from an XML tree to a model definition, section by section.
#include "io/mjcf.h"

#include <string.h>

bool rgMjcf_Failed(const rgMjcf* m) {
    return m->result != rg_ok || m->reader.errorCount > 0;
}

void rgMjcf_Check(rgMjcf* m, rgResult result) {
    if (m->result == rg_ok) {
        m->result = result;
    }
}

void* rgMjcf_Grow(rgMjcf* m, void** array, int* capacity, int used, size_t size) {
    rgResult result = rgReserve(&m->load->allocator, array, capacity, used, used + 1, size);
    if (result != rg_ok) {
        rgMjcf_Check(m, result);
        return NULL;
    }
    return (char*)*array + (size_t)used * size;
}

rgSource rgMjcf_Source(const rgXmlNode* node) {
    return (rgSource){.file = node->file, .line = node->line};
}

// Sections of MuJoCo's top level. Those without a reader do not change the motion.
static const char* const sections[] = {
    "compiler",  "option",  "size",      "visual",     "statistic", "default", "asset",
    "worldbody", "contact", "equality",  "tendon",     "actuator",  "sensor",  "keyframe",
    "custom",    "include", "extension", "deformable", NULL};

static void rgMjcf_CheckSections(rgMjcf* m, const rgXmlNode* root) {
    rgXmlReader_CheckChildren(&m->reader, root, sections);
    const char* const refused[] = {"deformable", "extension"};
    for (int i = 0; i < RG_COUNT(refused); ++i) {
        const rgXmlNode* node = rgXmlNode_Child(root, refused[i]);
        if (node != NULL && node->firstChild != NULL) {
            rgXmlReader_Warn(&m->reader, node, "<%s> is not supported; it is left out", node->name);
        }
    }
}

typedef void rgMjSectionFcn(rgMjcf* m, const rgXmlNode* root);

// The order matters: a section may name parts of those before it.
static void rgMjcf_ReadSections(rgMjcf* m, const rgXmlNode* root) {
    static rgMjSectionFcn* const readers[] = {
        rgMjcf_CheckSections, rgMjcf_ReadCompiler, rgMjcf_ReadOption,    rgMjcf_ReadDefaults,
        rgMjcf_ReadAssets,    rgMjcf_ReadBodies,   rgMjcf_CountAttached, rgMjcf_SetTotalMass,
        rgMjcf_ReadCustom,    rgMjcf_ReadContacts, rgMjcf_ReadTendons,   rgMjcf_ReadEqualities,
        rgMjcf_ReadActuators, rgMjcf_SetReflected, rgMjcf_ReadSensors,   rgMjcf_OrderAttached,
        rgMjcf_ReadKeys,      rgMjcf_Switch,       rgMjcf_NameCameras};
    for (int i = 0; i < RG_COUNT(readers) && m->result == rg_ok; ++i) {
        int before = m->reader.errorCount;
        readers[i](m, root);
        // Later sections would only report parts that are missing because of this.
        if (m->reader.errorCount > before && i >= 3) {
            return;
        }
    }
}

static void rgMjcf_Release(rgMjcf* m) {
    for (int i = 0; i < m->classCount; ++i) {
        rgRelease(&m->load->allocator, (void*)m->classes[i].nodes);
    }
    rgMjNames* const names[] = {
        &m->bodyNames,     &m->jointNames,    &m->geomNames,  &m->siteNames,
        &m->tendonNames,   &m->actuatorNames, &m->meshNames,  &m->fieldNames,
        &m->modelNames,    &m->materialNames, &m->classNames, &m->sensorNames,
        &m->equalityNames, &m->keyNames,      &m->leftGeoms,  &m->cameraNames};
    for (int i = 0; i < RG_COUNT(names); ++i) {
        rgRelease(&m->load->allocator, names[i]->slots);
    }
    void* const arrays[] = {m->classes,   m->meshes,       m->fields,    m->colors,
                            m->bodies,    m->geoms,        m->siteSizes, m->springDampers,
                            m->reflected, (void*)m->models};
    for (int i = 0; i < RG_COUNT(arrays); ++i) {
        rgRelease(&m->load->allocator, arrays[i]);
    }
    rgArena_Free(&m->arena);
}

// Limits and equalities are soft in MuJoCo, also if the file gives no softness. Built-in models are
// written for rigid ones.
static void rgMjcf_ReportRigid(rgMjcf* m, const rgXmlNode* root) {
    bool limited = false;
    if (root->file != NULL && rgFindBuiltinModel(root->file) != NULL) {
        return;
    }
    for (int i = 0; i < m->def->jointCount; ++i) {
        limited = limited || m->def->joints[i].hasLimits;
    }
    for (int i = 0; i < m->def->tendonCount; ++i) {
        limited = limited || m->def->tendons[i].hasLimits;
    }
    if (limited || m->def->equalityCount > 0) {
        rgXmlReader_Note(&m->reader, root,
                         "limits and equalities are rigid here; in MuJoCo they are soft, by "
                         "default with solref='0.02 1'");
    }
}

static void rgMjcf_Run(rgMjcf* m, rgXmlNode* root) {
    const char* model = rgXmlNode_Attribute(root, "model");
    rgModelDef_SetName(m->def, model != NULL ? model : "MuJoCo Model");
    rgMjcf_Include(m, root);
    rgXmlNode_DropEmpty(root);
    if (!rgMjcf_Failed(m)) {
        rgMjcf_Replicate(m, root);
    }
    if (!rgMjcf_Failed(m)) {
        rgMjcf_ReadSections(m, root);
    }
    if (!rgMjcf_Failed(m)) {
        rgMjcf_SetSoftness(m);
        rgMjcf_DropTorsion(m);
        rgMjcf_ReportRigid(m, root);
        rgMjcf_CheckUnread(m, root);
    }
}

rgResult rgReadMjcfAt(rgXmlTree* tree, rgXmlNode* root, const rgLoadDef* def,
                      rgDiagnostics* diagnostics, int depth, rgModelDef** model) {
    char folder[RG_PATH_LENGTH] = ".";
    if (root->file != NULL && !rgPathFolder(root->file, folder)) {
        return rg_errorFile;
    }
    rgMjcf m = {.reader = {.diagnostics = diagnostics, .strict = def->strict},
                .tree = tree,
                .load = def,
                .folder = folder,
                .depth = depth};
    rgArena_Init(&m.arena, &def->allocator);
    rgMjcf_Check(&m, rgCreateModelDef(&def->allocator, &m.def));
    if (m.result == rg_ok) {
        rgMjcf_Run(&m, root);
    }
    rgMjcf_Release(&m);
    if (m.arena.failed) {
        rgMjcf_Check(&m, rg_errorMemory);
    }
    if (m.result != rg_ok && m.result != rg_errorMemory && m.reader.errorCount == 0) {
        rgXmlReader_Error(&m.reader, root, "the model is refused (%s)", rgResult_Name(m.result));
    }
    if (rgMjcf_Failed(&m)) {
        rgDestroyModelDef(m.def);
        return m.result != rg_ok ? m.result : rg_errorFormat;
    }
    *model = m.def;
    return rg_ok;
}

rgResult rgReadMjcf(rgXmlTree* tree, rgXmlNode* root, const rgLoadDef* def,
                    rgDiagnostics* diagnostics, rgModelDef** model) {
    return rgReadMjcfAt(tree, root, def, diagnostics, 0, model);
}

rgResult rgLoadMjcf(const char* path, const rgLoadDef* def, rgDiagnostics* diagnostics,
                    rgModelDef** model) {
    return path == NULL ? rg_errorArgument
                        : rgLoadAs("mujoco", path, NULL, 0, def, diagnostics, model);
}

rgResult rgParseMjcf(const void* text, size_t byteCount, const char* path, const rgLoadDef* def,
                     rgDiagnostics* diagnostics, rgModelDef** model) {
    return text == NULL ? rg_errorArgument
                        : rgLoadAs("mujoco", path, text, byteCount, def, diagnostics, model);
}
