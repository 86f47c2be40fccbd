// Names of mesh files as robot descriptions write them, into paths that exist.
#pragma once
#include "io/file.h"
#include "rigor/io.h"

typedef enum rgResourceStatus {
    rg_resourceFound,
    rg_resourceMissing, // the path it should have is in `path`
    rg_resourceNoPackage,
    rg_resourceRemote, // http and the like
    rg_resourceTooLong,
} rgResourceStatus;

// package://NAME/rest and model://NAME/rest: below the package folders of the def, then those of
// ROS_PACKAGE_PATH, AMENT_PREFIX_PATH, GZ_SIM_RESOURCE_PATH and GAZEBO_MODEL_PATH, then below the
// folders that contain the description. file:// and plain names: relative to `folder`.
rgResourceStatus rgFindResource(const char* uri, const char* folder, const rgLoadDef* def,
                                char path[RG_PATH_LENGTH]);
