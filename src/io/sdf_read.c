// SDF elements that hold numbers, words and poses as text.
#include "io/sdf.h"

#include <math.h>
#include <string.h>

// The consequence of a skipped element; NULL when it is not among them.
static const char* rgSkipMeaning(const char* const* skipped, const char* name) {
    for (int i = 0; skipped != NULL && skipped[i] != NULL; i += 2) {
        if (strcmp(skipped[i], name) == 0) {
            return skipped[i + 1];
        }
    }
    return NULL;
}

static bool rgIsAmong(const char* const* known, const char* name) {
    for (int i = 0; known != NULL && known[i] != NULL; ++i) {
        if (strcmp(known[i], name) == 0) {
            return true;
        }
    }
    return false;
}

static void rgSdf_CheckChild(rgSdf* sdf, const rgXmlNode* node, const rgXmlNode* child,
                             const char* const* known, const char* const* skipped) {
    const char* consequence = rgSkipMeaning(skipped, child->name);
    if (rgIsAmong(known, child->name)) {
        return;
    }
    if (consequence != NULL && consequence[0] == '!') {
        rgXmlReader_Warn(&sdf->xml, child, "<%s> of <%s> is not supported: %s", child->name,
                         node->name, consequence + 1);
    } else if (consequence != NULL) {
        rgXmlReader_Note(&sdf->xml, child, "<%s> of <%s> is skipped: %s", child->name, node->name,
                         consequence);
    } else if (strchr(child->name, ':') != NULL) {
        rgXmlReader_Note(&sdf->xml, child, "<%.60s> belongs to another program and is skipped",
                         child->name);
    } else {
        char suggestion[100];
        int count = 0;
        while (known != NULL && known[count] != NULL) {
            ++count;
        }
        rgDidYouMean(child->name, known, count, suggestion);
        rgXmlReader_Warn(&sdf->xml, child, "unknown element <%.60s> in <%.60s> is ignored%s",
                         child->name, node->name, suggestion);
    }
}

void rgSdf_CheckChildren(rgSdf* sdf, const rgXmlNode* node, const char* const* known,
                         const char* const* skipped) {
    for (const rgXmlNode* child = node->firstChild; child != NULL; child = child->next) {
        rgSdf_CheckChild(sdf, node, child, known, skipped);
    }
    if (node->textLine != 0) {
        rgXmlNode place = *node;
        place.line = node->textLine;
        rgXmlReader_Warn(&sdf->xml, &place, "text inside <%.60s> has no meaning", node->name);
    }
}

const char* rgSdf_Text(const rgXmlNode* node, const char* name) {
    const rgXmlNode* child = rgXmlNode_Child(node, name);
    return child != NULL ? child->text : NULL;
}

bool rgSdf_Number(rgSdf* sdf, const rgXmlNode* node, const char* name, double* value) {
    const rgXmlNode* child = rgXmlNode_Child(node, name);
    return child != NULL && rgXmlReader_TextDoubles(&sdf->xml, child, value, 1, 1) == 1;
}

bool rgSdf_NotNegative(rgSdf* sdf, const rgXmlNode* node, const char* name, double* value) {
    double read = 0;
    if (!rgSdf_Number(sdf, node, name, &read)) {
        return false;
    }
    if (read < 0) {
        rgXmlReader_Error(&sdf->xml, rgXmlNode_Child(node, name), "<%s>: %g is negative", name,
                          read);
        return false;
    }
    *value = read;
    return true;
}

bool rgSdf_Bool(rgSdf* sdf, const rgXmlNode* node, const char* name, bool* value) {
    static const char* const words[] = {"false", "true", "0", "1", "False", "True"};
    const rgXmlNode* child = rgXmlNode_Child(node, name);
    const char* text = child != NULL && child->text != NULL ? child->text : "";
    for (int i = 0; i < RG_COUNT(words); ++i) {
        if (strcmp(text, words[i]) == 0) {
            *value = i % 2 != 0;
            return true;
        }
    }
    if (child != NULL) {
        rgXmlReader_Error(&sdf->xml, child, "<%s>: '%.60s' is neither true nor false", name, text);
    }
    return false;
}

bool rgSdf_Vector(rgSdf* sdf, const rgXmlNode* node, const char* name, rgVec3* value) {
    const rgXmlNode* child = rgXmlNode_Child(node, name);
    double xyz[3];
    if (child == NULL || rgXmlReader_TextDoubles(&sdf->xml, child, xyz, 3, 3) != 3) {
        return false;
    }
    *value = rgVec(xyz[0], xyz[1], xyz[2]);
    return true;
}

static rgPose rgSdf_QuatPose(rgSdf* sdf, const rgXmlNode* node, const double v[7]) {
    rgPose pose = {rgVec(v[0], v[1], v[2]), {v[6], v[3], v[4], v[5]}};
    double length = sqrt(v[3] * v[3] + v[4] * v[4] + v[5] * v[5] + v[6] * v[6]);
    if (!(length > 1e-9 && length < 1e9)) {
        rgXmlReader_Error(&sdf->xml, node, "<pose>: the quaternion has length %g", length);
    }
    pose.q = rgQuatNormalize(pose.q);
    return pose;
}

rgPose rgSdf_ReadPose(rgSdf* sdf, const rgXmlNode* node) {
    static const char* const known[] = {"relative_to", "degrees", "rotation_format", "frame", NULL};
    static const rgXmlWord formats[] = {{"euler_rpy", 0}, {"quat_xyzw", 1}, {NULL, 0}};
    double v[7] = {0};
    bool degrees = false;
    int format = 0;
    if (node == NULL) {
        return rgPoseIdentity();
    }
    rgXmlReader_CheckAttributes(&sdf->xml, node, known);
    rgXmlReader_CheckChildren(&sdf->xml,
                              &(rgXmlNode){.name = node->name,
                                           .file = node->file,
                                           .line = node->line,
                                           .firstChild = node->firstChild},
                              NULL);
    rgXmlReader_Bool(&sdf->xml, node, "degrees", &degrees);
    rgXmlReader_Word(&sdf->xml, node, "rotation_format", formats, &format);
    int count = 6 + format;
    if (node->textLine == 0 || rgXmlReader_TextDoubles(&sdf->xml, node, v, count, count) == 0) {
        return rgPoseIdentity();
    }
    if (format == 1) {
        return rgSdf_QuatPose(sdf, node, v);
    }
    double unit = degrees ? RG_PI / 180 : 1;
    return (rgPose){rgVec(v[0], v[1], v[2]),
                    rgQuatFromRollPitchYaw(unit * v[3], unit * v[4], unit * v[5])};
}
