// Surfaces of URDF links: Bullet's <contact> and Gazebo's tags.
#include "io/urdf.h"

#include <string.h>

// Value of a child such as <lateral_friction value="1"/>, not negative; otherwise as it was.
static void rgUrdf_ReadContactValue(rgUrdf* urdf, const rgXmlNode* contact, const char* name,
                                    double* value) {
    static const char* const known[] = {"value", NULL};
    const rgXmlNode* node = rgXmlNode_Child(contact, name);
    double read = 0;
    if (node != NULL) {
        rgXmlReader_CheckAttributes(&urdf->xml, node, known);
    }
    if (node == NULL || !rgXmlReader_Double(&urdf->xml, node, "value", &read)) {
        return;
    }
    if (read < 0) {
        rgXmlReader_Error(&urdf->xml, node, "<%s value>: %g is negative", name, read);
    } else {
        *value = read;
    }
}

static const rgXmlNode* rgFindBelow(const rgXmlNode* node, const char* name) {
    const rgXmlNode* found = NULL;
    for (const rgXmlNode* child = node->firstChild; child != NULL && found == NULL;
         child = child->next) {
        found = strcmp(child->name, name) == 0 ? child : rgFindBelow(child, name);
    }
    return found;
}

// Number that an element below holds as text, or as `value`. False: there is none, or it is bad
// (reported).
static bool rgUrdf_ReadBelow(rgUrdf* urdf, const rgXmlNode* node, const char* name, double most,
                             double* value) {
    const rgXmlNode* found = rgFindBelow(node, name);
    double read = 0;
    if (found == NULL) {
        return false;
    }
    bool attribute = rgXmlNode_Attribute(found, "value") != NULL;
    if (!(attribute ? rgXmlReader_Double(&urdf->xml, found, "value", &read)
                    : rgXmlReader_Text(&urdf->xml, found, &read))) {
        return false;
    }
    if (!(read >= 0 && read <= most)) {
        if (isinf(most)) {
            rgXmlReader_Error(&urdf->xml, found, "<%s>: %g is negative", name, read);
        } else {
            rgXmlReader_Error(&urdf->xml, found, "<%s>: %g is not between 0 and %g", name, read,
                              most);
        }
        return false;
    }
    *value = read;
    return true;
}

// Coefficients along both directions; Gazebo takes the smaller of two surfaces.
static void rgUrdf_ReadGazeboFriction(rgUrdf* urdf, const rgXmlNode* node, rgMaterial* material) {
    double other = 0;
    bool has = rgUrdf_ReadBelow(urdf, node, "mu1", INFINITY, &material->mu) ||
               rgUrdf_ReadBelow(urdf, node, "mu", INFINITY, &material->mu);
    if (!has) {
        return;
    }
    material->frictionRule = rg_frictionMinimum;
    if (rgUrdf_ReadBelow(urdf, node, "mu2", INFINITY, &other) && other != material->mu) {
        rgXmlReader_Warn(&urdf->xml, rgFindBelow(node, "mu2"),
                         "<mu2>: friction is taken as the same in all directions, %g",
                         material->mu);
    }
}

// <gazebo reference="LINK">: the tags by themselves, or as SDF has them, in collision, surface.
static void rgUrdf_ReadGazebo(rgUrdf* urdf, const rgUrdfLink* link, rgMaterial* material) {
    const rgIndexedName* names = urdf->gazeboNames;
    for (int i = rgFirstName(names, urdf->gazeboCount, link->name);
         i < urdf->gazeboCount && strcmp(names[i].name, link->name) == 0; ++i) {
        const rgXmlNode* node = urdf->gazebos[names[i].index];
        rgUrdf_ReadGazeboFriction(urdf, node, material);
        rgUrdf_ReadBelow(urdf, node, "restitution_coefficient", 1, &material->restitution);
        double ignored[2];
        double* stiffness = urdf->def->fileContact ? &material->stiffness : &ignored[0];
        double* damping = urdf->def->fileContact ? &material->damping : &ignored[1];
        bool soft = rgUrdf_ReadBelow(urdf, node, "kp", INFINITY, stiffness);
        soft = rgUrdf_ReadBelow(urdf, node, "kd", INFINITY, damping) || soft;
        if (soft && !urdf->def->fileContact && !urdf->notedSoftness) {
            urdf->notedSoftness = true;
            rgXmlReader_Note(
                &urdf->xml, node,
                "<kp> and <kd> are not used: contacts are rigid; --contact file uses them");
        }
        // A rigid contact has no damper.
        material->damping = material->stiffness > 0 ? material->damping : 0;
    }
}

rgMaterial rgUrdf_ContactMaterial(rgUrdf* urdf, const rgUrdfLink* link) {
    static const char* const known[] = {"lateral_friction", "restitution", NULL};
    rgMaterial material = rgDefaultMaterial();
    const rgXmlNode* contact = rgXmlNode_Child(link->node, "contact");
    if (contact != NULL) {
        rgXmlReader_CheckAttributes(&urdf->xml, contact, NULL);
        rgXmlReader_CheckChildren(&urdf->xml, contact, known);
        rgUrdf_ReadContactValue(urdf, contact, "lateral_friction", &material.mu);
        rgUrdf_ReadContactValue(urdf, contact, "restitution", &material.restitution);
    }
    rgUrdf_ReadGazebo(urdf, link, &material);
    if (urdf->frictionRule != rg_frictionUnset) {
        material.frictionRule = urdf->frictionRule;
    }
    return material;
}
