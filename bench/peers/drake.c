// Drake's discrete solvers with point contact, in a process of Python's: drake_process.py. Its
// times are CPU times of the steps there, which are made in C++. "near-rigid": its contacts as
// stiff as SAP takes them.
#include "peers/process.h"

#include <stdlib.h>
#include <string.h>

static const char* const rgDrakeVariants[] = {"SAP", "SAP near-rigid", "TAMSI", NULL};

static const char* rgDrake_Version(void) {
    static char version[24];
    return rgPeerPackage("drake", version, sizeof(version));
}

static void* rgDrake_Create(const rgPeerScene* scene, const char* variant, char* fault,
                            size_t faultSize) {
    char* python = rgPeerPython();
    if (python == NULL || strcmp(rgDrake_Version(), "not installed") == 0) {
        snprintf(fault, faultSize, "not installed: ./setup bench");
        free(python);
        return NULL;
    }
    const char* const command[] = {python, "-B", RIGOR_SOURCE_DIR "/bench/peers/drake_process.py",
                                   NULL};
    void* world = rgPeerProcess_Create(scene, command, variant, fault, faultSize);
    free(python);
    return world;
}

const rgPeer rgPeerDrake = {
    .name = "Drake",
    .variants = rgDrakeVariants,
    .version = rgDrake_Version,
    .create = rgDrake_Create,
    .destroy = rgPeerProcess_Destroy,
    .reset = rgPeerProcess_Reset,
    .step = rgPeerProcess_Step,
    .look = rgPeerProcess_Look,
    .body = rgPeerProcess_Body,
    .seconds = rgPeerProcess_Seconds,
};
