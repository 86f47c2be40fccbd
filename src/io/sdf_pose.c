// Poses and attachments of the parts of an SDF file: every pose is relative to some frame, every
// frame attached to some part, without cycles.
#include "io/sdf.h"

#include <string.h>

// The part that a name means to another; -1 and an error when there is none.
static int rgSdf_Named(rgSdf* sdf, const rgSdfPart* from, const rgXmlNode* node, const char* what,
                       const char* name) {
    int found = rgSdf_Find(sdf, from, name);
    if (found < 0) {
        rgXmlReader_Error(&sdf->xml, node, "<%s %s>: there is no frame '%.60s'", node->name, what,
                          name);
    }
    return found;
}

// A view of a model from the inside, for names that its own attributes hold.
static rgSdfPart rgSdf_Inside(const rgSdf* sdf, int index) {
    rgSdfPart inside = sdf->parts[index];
    if (inside.kind == rg_sdfModel) {
        inside.scope = index;
    }
    inside.model = index;
    return inside;
}

// The first link of a model or of one inside it; the model itself without any.
static int rgSdf_CanonicalLink(rgSdf* sdf, int index) {
    const rgSdfPart* part = &sdf->parts[index];
    const char* name = rgXmlNode_Attribute(part->node, "canonical_link");
    if (name != NULL) {
        rgSdfPart inside = rgSdf_Inside(sdf, index);
        int found = rgSdf_Named(sdf, &inside, part->node, "canonical_link", name);
        return found >= 0 ? found : index;
    }
    // Parts of a model follow it, up to the next part outside of it.
    for (int i = index + 1; i < sdf->partCount && sdf->parts[i].scope >= index; ++i) {
        if (sdf->parts[i].kind == rg_sdfLink) {
            return i;
        }
    }
    return index;
}

static void rgSdf_FindAttached(rgSdf* sdf, int index) {
    rgSdfPart* part = &sdf->parts[index];
    part->attached = index;
    if (part->kind == rg_sdfJoint) {
        part->attached = part->child >= 0 ? part->child : index;
    } else if (part->kind == rg_sdfModel) {
        part->attached = index > 0 ? rgSdf_CanonicalLink(sdf, index) : 0;
    } else if (part->kind == rg_sdfFrame) {
        const char* name = strcmp(part->node->name, "frame") == 0
                               ? rgXmlNode_Attribute(part->node, "attached_to")
                               : NULL;
        int found = name != NULL && name[0] != '\0'
                        ? rgSdf_Named(sdf, part, part->node, "attached_to", name)
                        : part->model;
        part->attached = found >= 0 ? found : index;
    }
}

static void rgSdf_FindRelative(rgSdf* sdf, int index) {
    rgSdfPart* part = &sdf->parts[index];
    const char* name = part->pose != NULL ? rgXmlNode_Attribute(part->pose, "relative_to") : NULL;
    part->local = rgSdf_ReadPose(sdf, part->pose);
    bool isFrame = part->kind == rg_sdfFrame && strcmp(part->node->name, "frame") == 0;
    bool hasAttached = isFrame && rgXmlNode_Attribute(part->node, "attached_to") != NULL;
    if (name != NULL && name[0] != '\0') {
        int found = rgSdf_Named(sdf, part, part->pose, "relative_to", name);
        part->relative = found >= 0 ? found : part->model;
    } else if (part->kind == rg_sdfJoint || hasAttached) {
        part->relative = part->attached != index ? part->attached : part->model;
    } else {
        part->relative = part->model;
    }
    if (part->pose != NULL && rgXmlNode_Attribute(part->pose, "frame") != NULL &&
        rgXmlNode_Attribute(part->pose, "frame")[0] != '\0') {
        rgXmlReader_Warn(&sdf->xml, part->pose,
                         "<pose frame> is not read; SDF 1.7 replaced it by 'relative_to'");
    }
}

// The pose of a model is that of its placement frame: where the model's own frame is then.
static void rgSdf_Place(rgSdf* sdf, int index) {
    rgSdfPart* part = &sdf->parts[index];
    if (part->placement == NULL || part->placement[0] == '\0') {
        return;
    }
    rgSdfPart inside = rgSdf_Inside(sdf, index);
    int at = rgSdf_Named(sdf, &inside, part->node, "placement_frame", part->placement);
    rgPose pose = rgPoseIdentity();
    for (int steps = 0; at >= 0 && at != index; ++steps) {
        if (at == 0 || steps > sdf->partCount) {
            rgXmlReader_Error(&sdf->xml, part->node,
                              "the placement frame '%.60s' is not placed within the model",
                              part->placement);
            return;
        }
        pose = rgPoseMultiply(sdf->parts[at].local, pose);
        at = sdf->parts[at].relative;
    }
    part->local = rgPoseMultiply(part->local, rgPoseInvert(pose));
}

// Follow `relative` up to a part whose place is known, then come back down. `chain` has room for
// all.
static void rgSdf_ResolvePose(rgSdf* sdf, int index, int* chain) {
    int count = 0;
    for (int at = index; !sdf->parts[at].resolved; at = sdf->parts[at].relative) {
        if (count >= sdf->partCount) {
            rgXmlReader_Error(&sdf->xml, sdf->parts[index].node,
                              "the pose of '%.60s' is relative to itself, through others",
                              sdf->parts[index].fullName);
            sdf->parts[index].resolved = true;
            sdf->parts[index].world = rgPoseIdentity();
            return;
        }
        chain[count++] = at;
    }
    while (count > 0) {
        rgSdfPart* part = &sdf->parts[chain[--count]];
        part->world = rgPoseMultiply(sdf->parts[part->relative].world, part->local);
        part->resolved = true;
    }
}

// Resolve the chain of `attached`, to a link or the world.
static void rgSdf_ResolveLink(rgSdf* sdf, int index, int* chain) {
    int count = 0, at = index;
    for (; sdf->parts[at].link < 0 && sdf->parts[at].attached != at; at = sdf->parts[at].attached) {
        if (count >= sdf->partCount) {
            rgXmlReader_Error(&sdf->xml, sdf->parts[index].node,
                              "'%.60s' is attached to itself, through others",
                              sdf->parts[index].fullName);
            sdf->parts[index].link = 0;
            return;
        }
        chain[count++] = at;
    }
    if (sdf->parts[at].link < 0) {
        sdf->parts[at].link = sdf->parts[at].kind == rg_sdfLink ? at : 0;
    }
    while (count > 0) {
        sdf->parts[chain[--count]].link = sdf->parts[at].link;
    }
}

void rgSdf_Resolve(rgSdf* sdf) {
    int* chain = RG_TAKE(&sdf->arena, int, sdf->partCount);
    if (chain == NULL) {
        sdf->result = rg_errorMemory;
        return;
    }
    for (int i = 0; i < sdf->partCount; ++i) {
        rgSdf_FindAttached(sdf, i);
    }
    for (int i = 1; i < sdf->partCount; ++i) {
        rgSdf_FindRelative(sdf, i);
    }
    for (int i = 1; i < sdf->partCount; ++i) {
        rgSdf_Place(sdf, i);
    }
    for (int i = 1; i < sdf->partCount && sdf->xml.errorCount == 0; ++i) {
        rgSdf_ResolvePose(sdf, i, chain);
        rgSdf_ResolveLink(sdf, i, chain);
    }
}
