// Engines in WebAssembly from npm, in a process of Node's: process.mjs, and a module for each.
// Their times are CPU times of the steps there; WebAssembly has no wide vectors and takes longer
// than the same code compiled for the machine. Numbers are in single precision.
#include "cli.h"
#include "peers/process.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RG_NODE_MODULES RIGOR_SOURCE_DIR "/bench/node_modules/"

// The field "version" of a package, or "not installed".
static const char* rgPackageVersion(const char* package, char* buffer, size_t size) {
    char* path = rgCli_Format(RG_NODE_MODULES "%s/package.json", package);
    FILE* file = fopen(path, "r");
    char line[256];
    snprintf(buffer, size, "not installed");
    while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
        char version[32];
        if (sscanf(line, " \"version\": \"%31[^\"]", version) == 1) {
            snprintf(buffer, size, "%s", version);
            break;
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    free(path);
    return buffer;
}

static void* rgWasm_Create(const char* engine, const char* package, const rgPeerScene* scene,
                           const char* variant, char* fault, size_t faultSize) {
    char version[32];
    if (strcmp(rgPackageVersion(package, version, sizeof(version)), "not installed") == 0) {
        snprintf(fault, faultSize, "not installed: ./setup bench");
        return NULL;
    }
    const char* const command[] = {"node", RIGOR_SOURCE_DIR "/bench/peers/process.mjs", engine,
                                   NULL};
    return rgPeerProcess_Create(scene, command, variant, fault, faultSize);
}

#define RG_WASM_PEER(Name, label, engine, package, ...)                                            \
    static const char* const rg##Name##Variants[] = {__VA_ARGS__, NULL};                           \
    static const char* rg##Name##_Version(void) {                                                  \
        static char version[32];                                                                   \
        return rgPackageVersion(package, version, sizeof(version));                                \
    }                                                                                              \
    static void* rg##Name##_Create(const rgPeerScene* scene, const char* variant, char* fault,     \
                                   size_t faultSize) {                                             \
        return rgWasm_Create(engine, package, scene, variant, fault, faultSize);                   \
    }                                                                                              \
    const rgPeer rgPeer##Name = {                                                                  \
        .name = label,                                                                             \
        .variants = rg##Name##Variants,                                                            \
        .version = rg##Name##_Version,                                                             \
        .create = rg##Name##_Create,                                                               \
        .destroy = rgPeerProcess_Destroy,                                                          \
        .reset = rgPeerProcess_Reset,                                                              \
        .step = rgPeerProcess_Step,                                                                \
        .look = rgPeerProcess_Look,                                                                \
        .body = rgPeerProcess_Body,                                                                \
        .seconds = rgPeerProcess_Seconds,                                                          \
    }

RG_WASM_PEER(Physx, "PhysX", "physx", "physx-js-webidl", "TGS", "TGS 50 iterations",
             "PGS 50 iterations");
RG_WASM_PEER(Rapier, "Rapier", "rapier", "@dimforge/rapier3d-compat", "4 iterations",
             "50 iterations");
RG_WASM_PEER(Jolt, "Jolt", "jolt", "jolt-physics", "10 iterations", "50 iterations");
