// <include> of SDF: the folder or file that a URI names, through its model.config. Each file is
// read once.
#include "io/sdf.h"

#include <stdio.h>
#include <string.h>

int rgSdf_ReadVersion(rgSdf* sdf, const rgXmlNode* root) {
    static const char* const known[] = {"version", NULL};
    const char* text = rgXmlReader_Required(&sdf->xml, root, "version");
    int major = 0, minor = 0;
    rgXmlReader_CheckAttributes(&sdf->xml, root, known);
    if (text != NULL && (sscanf(text, "%3d.%3d", &major, &minor) != 2 || major != 1)) {
        rgXmlReader_Error(&sdf->xml, root, "<sdf version>: '%.60s' is not known; 1.0 to 1.12 are",
                          text);
    }
    return 100 * major + minor;
}

// Report the reason for which a URI cannot be resolved.
static void rgSdf_Missing(rgSdf* sdf, const rgXmlNode* include, const char* uri,
                          rgResourceStatus status) {
    const char* reason =
        status == rg_resourceRemote
            ? "nothing is fetched from a network; download the model and name the folder above it "
              "with --package-dir"
        : status == rg_resourceNoPackage
            ? "no folder of that name with a model.config or model.sdf; name the folder above it "
              "with --package-dir or in GZ_SIM_RESOURCE_PATH"
            : "there is no such file, nor a folder with a model.config or model.sdf";
    rgXmlReader_Error(&sdf->xml, include, "<include>: '%.200s': %s", uri, reason);
}

// URI/name as a file that exists.
static rgResourceStatus rgSdf_FindBelow(rgSdf* sdf, const char* folder, const char* uri,
                                        const char* name, char path[RG_PATH_LENGTH]) {
    char joined[RG_PATH_LENGTH];
    size_t length = strlen(uri);
    while (length > 0 && uri[length - 1] == '/') {
        --length;
    }
    int written = snprintf(joined, sizeof(joined), "%.*s/%s", (int)RG_MIN(length, 2000), uri, name);
    return written < (int)sizeof(joined) ? rgFindResource(joined, folder, sdf->def, path)
                                         : rg_resourceTooLong;
}

static bool rgParseVersion(const char* text, int* version) {
    int major = 0, minor = 0;
    if (text == NULL || sscanf(text, "%3d.%3d", &major, &minor) != 2) {
        return false;
    }
    *version = 100 * major + minor;
    return true;
}

// The file of the newest version that a model.config lists, in place of its own path.
static bool rgSdf_FollowConfig(rgSdf* sdf, char path[RG_PATH_LENGTH]) {
    rgXmlNode* root = NULL;
    rgResult result = rgXmlTree_Load(sdf->tree, path, sdf->xml.diagnostics, &root);
    if (result != rg_ok) {
        sdf->xml.errorCount += 1;
        sdf->result = result == rg_errorMemory ? result : sdf->result;
        return false;
    }
    const rgXmlNode* best = NULL;
    int bestVersion = -1;
    for (const rgXmlNode* at = rgXmlNode_Child(root, "sdf"); at != NULL;
         at = rgXmlNode_Next(at, "sdf")) {
        int version = 0;
        if (!rgParseVersion(rgXmlNode_Attribute(at, "version"), &version)) {
            version = 0;
        }
        if (at->text != NULL && version > bestVersion) {
            best = at;
            bestVersion = version;
        }
    }
    char folder[RG_PATH_LENGTH], file[RG_PATH_LENGTH];
    if (best == NULL || !rgPathFolder(path, folder) || !rgJoinPath(folder, best->text, file) ||
        !rgFileExists(file)) {
        rgXmlReader_Error(&sdf->xml, best != NULL ? best : root, "names no <sdf> file that exists");
        return false;
    }
    strcpy(path, file);
    return true;
}

// True if a folder of the URI's name is among those that are looked at.
static bool rgSdf_IsThere(rgSdf* sdf, const rgXmlNode* include, const char* uri) {
    char folder[RG_PATH_LENGTH], path[RG_PATH_LENGTH];
    return rgPathFolder(include->file != NULL ? include->file : "", folder) &&
           (rgSdf_FindBelow(sdf, folder, uri, "model.config", path) == rg_resourceFound ||
            rgSdf_FindBelow(sdf, folder, uri, "model.sdf", path) == rg_resourceFound);
}

static bool rgSdf_FindModel(rgSdf* sdf, const rgXmlNode* include, const char* uri,
                            char path[RG_PATH_LENGTH]) {
    char folder[RG_PATH_LENGTH];
    if (!rgPathFolder(include->file != NULL ? include->file : "", folder)) {
        return false;
    }
    if (rgFindResource(uri, folder, sdf->def, path) == rg_resourceFound) {
        return true;
    }
    if (rgSdf_FindBelow(sdf, folder, uri, "model.config", path) == rg_resourceFound) {
        return rgSdf_FollowConfig(sdf, path);
    }
    rgResourceStatus status = rgSdf_FindBelow(sdf, folder, uri, "model.sdf", path);
    if (status != rg_resourceFound) {
        rgSdf_Missing(sdf, include, uri, status);
    }
    return status == rg_resourceFound;
}

// The root element of a file, from the tree when it has been read before.
static const rgXmlNode* rgSdf_Root(rgSdf* sdf, const char* path) {
    for (int i = 0; i < sdf->includedCount; ++i) {
        if (strcmp(sdf->included[i].name, path) == 0) {
            return sdf->roots[sdf->included[i].index];
        }
    }
    rgXmlNode* root = NULL;
    rgResult result = rgXmlTree_Load(sdf->tree, path, sdf->xml.diagnostics, &root);
    if (result != rg_ok) {
        sdf->xml.errorCount += 1;
        sdf->result = result == rg_errorMemory ? result : sdf->result;
        return NULL;
    }
    int count = sdf->includedCount;
    if (rgReserve(&sdf->def->allocator, (void**)&sdf->included, &sdf->includedCapacity, count,
                  count + 1, sizeof(rgIndexedName)) != rg_ok ||
        rgReserve(&sdf->def->allocator, (void**)&sdf->roots, &sdf->rootCapacity, count, count + 1,
                  sizeof(rgXmlNode*)) != rg_ok) {
        sdf->result = rg_errorMemory;
        return NULL;
    }
    sdf->included[count] = (rgIndexedName){.name = root->file, .index = count};
    sdf->roots[count] = root;
    sdf->includedCount += 1;
    return root;
}

// Gazebo's own models that most of its worlds include. The sun is a light, and not a body.
static const char groundPlane[] =
    "<sdf version='1.9'><model name='ground_plane'><static>true</static><link name='link'>"
    "<collision name='collision'><geometry><plane/></geometry></collision></link></model></sdf>";

// True if a URI ends in one of a model's names.
static bool rgNamesModel(const char* uri, const char* a, const char* b) {
    const char* slash = strrchr(uri, '/');
    const char* last = slash != NULL ? slash + 1 : uri;
    return strstr(uri, "://") != NULL && (strcmp(last, a) == 0 || strcmp(last, b) == 0);
}

static const rgXmlNode* rgSdf_GroundPlane(rgSdf* sdf, const rgXmlNode* include) {
    rgXmlNode* root = NULL;
    rgResult result = rgXmlTree_Parse(sdf->tree, groundPlane, sizeof(groundPlane) - 1,
                                      include->file, sdf->xml.diagnostics, &root);
    if (result != rg_ok) {
        sdf->result = result;
        return NULL;
    }
    rgXmlReader_Note(&sdf->xml, include, "the ground plane is the one that comes with this reader");
    sdf->version = 109;
    return rgXmlNode_Child(root, "model");
}

const rgXmlNode* rgSdf_Included(rgSdf* sdf, const rgXmlNode* include) {
    char path[RG_PATH_LENGTH];
    const char* uri = rgSdf_Text(include, "uri");
    if (uri == NULL) {
        rgXmlReader_Error(&sdf->xml, include, "<include> needs an element <uri>");
        return NULL;
    }
    bool missing = false;
    if (rgNamesModel(uri, "sun", "Sun") || rgNamesModel(uri, "ground_plane", "Ground Plane")) {
        missing = !rgSdf_IsThere(sdf, include, uri);
    }
    if (missing && rgNamesModel(uri, "sun", "Sun")) {
        rgXmlReader_Note(&sdf->xml, include, "the sun is a light and is left out");
        return NULL;
    }
    if (missing) {
        return rgSdf_GroundPlane(sdf, include);
    }
    if (!rgSdf_FindModel(sdf, include, uri, path)) {
        return NULL;
    }
    const rgXmlNode* root = rgSdf_Root(sdf, path);
    if (root == NULL) {
        return NULL;
    }
    const rgXmlNode* model = rgXmlNode_Child(root, "model");
    if (strcmp(root->name, "sdf") != 0 || model == NULL) {
        rgXmlReader_Error(&sdf->xml, include, "<include>: '%.200s' is no SDF file with a <model>",
                          path);
        return NULL;
    }
    sdf->version = rgSdf_ReadVersion(sdf, root);
    return model;
}
