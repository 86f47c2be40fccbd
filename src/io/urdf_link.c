// URDF links: origins, masses and inertias, colours.
#include "io/urdf.h"
#include "rigor/inertia.h"

#include <string.h>

rgPose rgUrdf_Origin(rgUrdf* urdf, const rgXmlNode* node) {
    static const char* const known[] = {"xyz", "rpy", NULL};
    rgPose pose = rgPoseIdentity();
    const rgXmlNode* origin = rgXmlNode_Child(node, "origin");
    if (origin == NULL) {
        return pose;
    }
    double xyz[3] = {0, 0, 0};
    double rpy[3] = {0, 0, 0};
    rgXmlReader_CheckAttributes(&urdf->xml, origin, known);
    rgXmlReader_CheckChildren(&urdf->xml, origin, NULL);
    rgXmlReader_Doubles(&urdf->xml, origin, "xyz", xyz, 3, 3);
    rgXmlReader_Doubles(&urdf->xml, origin, "rpy", rpy, 3, 3);
    pose.p = rgVec(xyz[0], xyz[1], xyz[2]);
    pose.q = rgQuatFromRollPitchYaw(rpy[0], rpy[1], rpy[2]);
    return pose;
}

void rgCheckUrdfSingle(rgXmlReader* reader, const rgXmlNode* node, const char* const* names) {
    for (int i = 0; names[i] != NULL; ++i) {
        const rgXmlNode* second = rgXmlNode_Next(rgXmlNode_Child(node, names[i]), names[i]);
        if (second != NULL) {
            rgXmlReader_Warn(reader, second, "a second <%s> in <%s> is ignored", names[i],
                             node->name);
        }
    }
}

// Reads the six numbers; false when a moment on the diagonal is missing.
static bool rgUrdf_ReadMoment(rgUrdf* urdf, const rgXmlNode* node, rgSym3* moment) {
    static const char* const names[] = {"ixx", "iyy", "izz", "ixy", "ixz", "iyz", NULL};
    double values[6] = {0};
    bool complete = true;
    rgXmlReader_CheckAttributes(&urdf->xml, node, names);
    rgXmlReader_CheckChildren(&urdf->xml, node, NULL);
    for (int i = 0; i < 6; ++i) {
        if (rgXmlNode_Attribute(node, names[i]) == NULL) {
            if (i < 3) {
                rgXmlReader_Error(&urdf->xml, node, "<inertia> needs the attribute '%s'", names[i]);
                complete = false;
            } else {
                rgXmlReader_Warn(&urdf->xml, node, "<inertia> has no '%s': taken as 0", names[i]);
            }
        } else {
            complete = rgXmlReader_Double(&urdf->xml, node, names[i], &values[i]) && complete;
        }
    }
    *moment = (rgSym3){values[0], values[1], values[2], values[3], values[4], values[5]};
    return complete;
}

// Check an inertia. Faults that are warnings to the compiler are reported by it, unless they are
// errors here.
static void rgUrdf_CheckInertia(rgUrdf* urdf, const rgUrdfLink* link, const rgXmlNode* node) {
    switch (rgInertia_Check(&link->inertia)) {
    case rg_inertiaIndefinite:
        rgXmlReader_Warn(
            &urdf->xml, node,
            "link '%.60s': a principal moment of inertia is negative; it is taken as 0",
            link->name);
        break;
    case rg_inertiaTriangle:
        if (urdf->xml.strict) {
            rgXmlReader_Error(&urdf->xml, link->node,
                              "link '%.60s': principal moments of inertia: the largest exceeds "
                              "the sum of the others",
                              link->name);
        }
        break;
    case rg_inertiaMassless:
        rgXmlReader_Warn(&urdf->xml, node, "link '%.60s': the mass is 0; its inertia is ignored",
                         link->name);
        break;
    default:
        break;
    }
}

static bool rgUrdf_ReadMass(rgUrdf* urdf, const rgUrdfLink* link, const rgXmlNode* inertial,
                            double* mass) {
    static const char* const known[] = {"value", NULL};
    const rgXmlNode* node = rgXmlNode_Child(inertial, "mass");
    if (node == NULL) {
        rgXmlReader_Warn(&urdf->xml, inertial, "link '%.60s': <inertial> has no <mass>: taken as 0",
                         link->name);
        return true;
    }
    rgXmlReader_CheckAttributes(&urdf->xml, node, known);
    rgXmlReader_CheckChildren(&urdf->xml, node, NULL);
    if (rgXmlReader_Required(&urdf->xml, node, "value") == NULL ||
        !rgXmlReader_Double(&urdf->xml, node, "value", mass)) {
        return false;
    }
    if (*mass < 0) {
        rgXmlReader_Error(&urdf->xml, node, "link '%.60s': the mass %g is negative", link->name,
                          *mass);
        return false;
    }
    return true;
}

// The nearest moment of inertia without a negative principal one.
static void rgLiftMoments(rgSym3* moment) {
    rgQuat axes;
    rgVec3 p = rgSym3Eigen(moment, &axes);
    if (p.z < 0) {
        rgSym3 lifted = {.xx = RG_MAX(p.x, 0), .yy = RG_MAX(p.y, 0), .zz = 0};
        *moment = rgSym3Rotate(axes, &lifted);
    }
}

void rgUrdf_ReadInertial(rgUrdf* urdf, rgUrdfLink* link) {
    static const char* const known[] = {"origin", "mass", "inertia", NULL};
    const rgXmlNode* inertial = rgXmlNode_Child(link->node, "inertial");
    if (inertial == NULL) {
        return;
    }
    rgXmlReader_CheckAttributes(&urdf->xml, inertial, NULL);
    rgXmlReader_CheckChildren(&urdf->xml, inertial, known);
    rgCheckUrdfSingle(&urdf->xml, inertial, known);
    rgPose pose = rgUrdf_Origin(urdf, inertial);
    rgSym3 moment = {0};
    bool good = rgUrdf_ReadMass(urdf, link, inertial, &link->inertia.mass);
    const rgXmlNode* inertia = rgXmlNode_Child(inertial, "inertia");
    if (inertia != NULL) {
        good = rgUrdf_ReadMoment(urdf, inertia, &moment) && good;
    } else {
        rgXmlReader_Warn(&urdf->xml, inertial,
                         "link '%.60s': <inertial> has no <inertia>: taken as a point mass",
                         link->name);
    }
    if (!good) {
        link->hasInertia = true; // a bad one, which has been reported
        return;
    }
    link->inertia.center = pose.p;
    link->inertia.moment = rgSym3Rotate(pose.q, &moment);
    rgUrdf_CheckInertia(urdf, link, inertial);
    rgLiftMoments(&link->inertia.moment);
    link->hasInertia = true; // a mass of 0 that is written out is meant
    if (!(link->inertia.mass > 0)) {
        link->inertia = (rgInertia){0};
    }
}

bool rgReadUrdfColor(rgXmlReader* reader, const rgXmlNode* material, float color[4]) {
    static const char* const knownAttributes[] = {"name", NULL};
    static const char* const known[] = {"color", "texture", NULL};
    static const char* const knownColor[] = {"rgba", NULL};
    static const char* const knownTexture[] = {"filename", NULL};
    rgXmlReader_CheckAttributes(reader, material, knownAttributes);
    rgXmlReader_CheckChildren(reader, material, known);
    rgCheckUrdfSingle(reader, material, known);
    const rgXmlNode* texture = rgXmlNode_Child(material, "texture");
    if (texture != NULL) {
        rgXmlReader_CheckAttributes(reader, texture, knownTexture);
    }
    const rgXmlNode* node = rgXmlNode_Child(material, "color");
    if (node == NULL) {
        return false;
    }
    double rgba[4] = {0};
    rgXmlReader_CheckAttributes(reader, node, knownColor);
    const char* text = rgXmlNode_Attribute(node, "rgba");
    if (text != NULL && rgXmlNode_WordCount(node, "rgba") == 0) {
        rgXmlReader_Warn(reader, node, "<color rgba>: is empty; grey is used");
        return false;
    }
    if (rgXmlReader_Required(reader, node, "rgba") == NULL ||
        rgXmlReader_Doubles(reader, node, "rgba", rgba, 4, 4) != 4) {
        return false;
    }
    for (int i = 0; i < 4; ++i) {
        if (rgba[i] < 0 || rgba[i] > 1) {
            rgXmlReader_Warn(reader, node, "<color rgba>: %g is not between 0 and 1", rgba[i]);
        }
        color[i] = (float)RG_MIN(RG_MAX(rgba[i], 0.0), 1.0);
    }
    return true;
}
