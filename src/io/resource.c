// Names of mesh files as robot descriptions write them, into paths that exist.
#define _XOPEN_SOURCE 700 // realpath
#include "io/resource.h"

#include "base/system.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// package://name/rest, split.
typedef struct rgPackageName {
    char name[256];
    const char* rest; // after the slash
} rgPackageName;

static bool rgStartsWith(const char* text, const char* start) {
    return strncmp(text, start, strlen(start)) == 0;
}

static bool rgSplitPackage(const char* text, rgPackageName* package) {
    text += strspn(text, "/"); // package:///name/rest is written too
    const char* slash = strchr(text, '/');
    size_t length = slash != NULL ? (size_t)(slash - text) : 0;
    if (length == 0 || length >= sizeof(package->name)) {
        return false;
    }
    memcpy(package->name, text, length);
    package->name[length] = '\0';
    package->rest = slash + 1;
    return true;
}

static bool rgIsFolder(const char* folder, size_t length, const char* name) {
    while (length > 1 && folder[length - 1] == '/') {
        --length;
    }
    size_t nameLength = strlen(name);
    return length >= nameLength && memcmp(folder + length - nameLength, name, nameLength) == 0 &&
           (length == nameLength || folder[length - nameLength - 1] == '/');
}

// folder/name/rest, or folder/rest when the folder is the package itself.
static bool rgFindInFolder(const char* folder, size_t length, const char* between,
                           const rgPackageName* package, char path[RG_PATH_LENGTH]) {
    int shown = (int)RG_MIN(length, (size_t)RG_PATH_LENGTH);
    int written = snprintf(path, RG_PATH_LENGTH, "%.*s%s/%s/%s", shown, folder, between,
                           package->name, package->rest);
    if (written > 0 && written < RG_PATH_LENGTH && rgFileExists(path)) {
        return true;
    }
    if (between[0] != '\0' || !rgIsFolder(folder, length, package->name)) {
        return false;
    }
    written = snprintf(path, RG_PATH_LENGTH, "%.*s/%s", shown, folder, package->rest);
    return written > 0 && written < RG_PATH_LENGTH && rgFileExists(path);
}

// Folders separated by colons.
static bool rgFindInList(const char* list, const char* between, const rgPackageName* package,
                         char path[RG_PATH_LENGTH]) {
    while (list != NULL && *list != '\0') {
        size_t length = strcspn(list, ":");
        if (length > 0 && rgFindInFolder(list, length, between, package, path)) {
            return true;
        }
        list += length;
        list += *list == ':';
    }
    return false;
}

// The package that the description itself lies in: its folder, and the folders above. Gazebo's
// projects have their models in a folder of that name.
static bool rgFindAbove(const char* folder, const rgPackageName* package,
                        char path[RG_PATH_LENGTH]) {
    char above[RG_PATH_LENGTH];
    if (realpath(folder, above) == NULL) {
        return false;
    }
    for (size_t length = strlen(above); length > 1;) {
        if (rgFindInFolder(above, length, "", package, path) ||
            rgFindInFolder(above, length, "/models", package, path)) {
            return true;
        }
        while (length > 0 && above[length - 1] != '/') {
            --length;
        }
        length -= length > 0;
    }
    return false;
}

static bool rgFindPackage(const rgPackageName* package, const char* folder, const rgLoadDef* def,
                          char path[RG_PATH_LENGTH]) {
    for (int i = 0; i < def->packageDirCount; ++i) {
        const char* dir = def->packageDirs[i];
        if (dir != NULL && rgFindInFolder(dir, strlen(dir), "", package, path)) {
            return true;
        }
    }
    if (!def->ignoreEnvironment &&
        (rgFindInList(getenv("ROS_PACKAGE_PATH"), "", package, path) ||
         rgFindInList(getenv("AMENT_PREFIX_PATH"), "/share", package, path) ||
         rgFindInList(getenv("GZ_SIM_RESOURCE_PATH"), "", package, path) ||
         rgFindInList(getenv("GAZEBO_MODEL_PATH"), "", package, path))) {
        return true;
    }
    return rgFindAbove(folder, package, path);
}

rgResourceStatus rgFindResource(const char* uri, const char* folder, const rgLoadDef* def,
                                char path[RG_PATH_LENGTH]) {
    bool isPackage = rgStartsWith(uri, "package://");
    if (isPackage || rgStartsWith(uri, "model://")) {
        rgPackageName package;
        if (!rgSplitPackage(strstr(uri, "://") + 3, &package)) {
            snprintf(path, RG_PATH_LENGTH, "%s", uri);
            return rg_resourceMissing;
        }
        return rgFindPackage(&package, folder, def, path) ? rg_resourceFound : rg_resourceNoPackage;
    }
    if (rgStartsWith(uri, "file://")) {
        uri += strlen("file://");
    } else if (strstr(uri, "://") != NULL) {
        return rg_resourceRemote;
    }
    if (!rgJoinPath(folder, uri, path)) {
        return rg_resourceTooLong;
    }
    return rgFileExists(path) ? rg_resourceFound : rg_resourceMissing;
}
