// SDF links: masses, and surfaces of collisions.
#include "io/sdf.h"

#include "rigor/inertia.h"

#include <math.h>
#include <string.h>

static rgSym3 rgSdf_ReadMoment(rgSdf* sdf, const rgXmlNode* inertial) {
    static const char* const known[] = {"ixx", "iyy", "izz", "ixy", "ixz", "iyz", NULL};
    double values[6] = {1, 1, 1, 0, 0, 0}; // default of SDF
    const rgXmlNode* node = rgXmlNode_Child(inertial, "inertia");
    if (node != NULL) {
        rgSdf_CheckChildren(sdf, node, known, NULL);
        for (int i = 0; i < 6; ++i) {
            rgSdf_Number(sdf, node, known[i], &values[i]);
        }
    }
    return (rgSym3){values[0], values[1], values[2], values[3], values[4], values[5]};
}

static void rgSdf_CheckInertia(rgSdf* sdf, const rgSdfPart* link, const rgXmlNode* node,
                               const rgInertia* inertia) {
    rgInertiaFault fault = rgInertia_Check(inertia);
    if (inertia->mass < 0) {
        rgXmlReader_Error(&sdf->xml, node, "link '%.60s': the mass %g is negative", link->fullName,
                          inertia->mass);
    } else if (inertia->mass == 0 && !link->isStatic) {
        rgXmlReader_Warn(&sdf->xml, node, "link '%.60s': the mass is 0; its inertia is ignored",
                         link->fullName);
    } else if (fault == rg_inertiaIndefinite) {
        rgXmlReader_Error(&sdf->xml, node,
                          "link '%.60s': a principal moment of inertia is negative",
                          link->fullName);
    }
}

rgInertia rgSdf_ReadInertial(rgSdf* sdf, const rgSdfPart* link, bool* isAuto) {
    static const char* const knownAttributes[] = {"auto", NULL};
    static const char* const known[] = {"mass", "pose", "inertia", "density", "auto_inertia_params",
                                        NULL};
    static const char* const skipped[] = {"fluid_added_mass", "!there is no fluid", "frame",
                                          "the position of the centre of mass is that of <pose>",
                                          NULL};
    rgInertia inertia = {.mass = 1, .moment = {1, 1, 1, 0, 0, 0}}; // default of SDF
    const rgXmlNode* node = rgXmlNode_Child(link->node, "inertial");
    *isAuto = false;
    if (node == NULL) {
        if (!link->isStatic) {
            rgXmlReader_Note(
                &sdf->xml, link->node,
                "link '%.60s' has no <inertial>: 1 kg and 1 kg m^2 are used, as SDF specifies",
                link->fullName);
        }
        return inertia;
    }
    rgXmlReader_CheckAttributes(&sdf->xml, node, knownAttributes);
    rgSdf_CheckChildren(sdf, node, known, skipped);
    rgXmlReader_Bool(&sdf->xml, node, "auto", isAuto);
    rgSdf_Number(sdf, node, "mass", &inertia.mass);
    rgPose pose = rgSdf_ReadPose(sdf, rgXmlNode_Child(node, "pose"));
    rgSym3 moment = rgSdf_ReadMoment(sdf, node);
    inertia.center = pose.p;
    inertia.moment = rgSym3Rotate(pose.q, &moment);
    if (!*isAuto) {
        rgSdf_CheckInertia(sdf, link, node, &inertia);
        inertia = inertia.mass > 0 ? inertia : (rgInertia){0};
    }
    return inertia;
}

// Coulomb friction; Gazebo takes the smaller of two surfaces.
static void rgSdf_ReadFriction(rgSdf* sdf, const rgXmlNode* friction, rgMaterial* material) {
    static const char* const known[] = {"ode", "bullet", "torsional", NULL};
    static const char* const knownOde[] = {"mu", "mu2", NULL};
    static const char* const skippedOde[] = {"fdir1", "friction is the same in all directions",
                                             "slip1", "!friction does not depend on speed",
                                             "slip2", "!friction does not depend on speed",
                                             NULL};
    rgSdf_CheckChildren(sdf, friction, known, NULL);
    const rgXmlNode* ode = rgXmlNode_Child(friction, "ode");
    const rgXmlNode* bullet = rgXmlNode_Child(friction, "bullet");
    if (ode == NULL && bullet != NULL) {
        rgSdf_NotNegative(sdf, bullet, "friction", &material->mu);
    }
    if (ode == NULL) {
        return;
    }
    rgSdf_CheckChildren(sdf, ode, knownOde, skippedOde);
    rgSdf_NotNegative(sdf, ode, "mu", &material->mu);
    double other = material->mu;
    rgSdf_NotNegative(sdf, ode, "mu2", &other);
    if (other != material->mu) {
        rgXmlReader_Warn(&sdf->xml, rgXmlNode_Child(ode, "mu2"),
                         "<mu2>: friction is taken as the same in all directions, %g",
                         material->mu);
    }
}

// The torque of a round patch of radius a under even pressure is 3 pi a mu N / 16.
static void rgSdf_ReadTorsion(rgSdf* sdf, const rgXmlNode* node, rgMaterial* material) {
    static const char* const known[] = {"coefficient", "use_patch_radius", "patch_radius",
                                        "surface_radius", NULL};
    static const char* const skipped[] = {"ode", "!friction does not depend on speed", NULL};
    double coefficient = 1, radius = 0;
    bool usePatch = true;
    rgSdf_CheckChildren(sdf, node, known, skipped);
    rgSdf_NotNegative(sdf, node, "coefficient", &coefficient);
    rgSdf_Bool(sdf, node, "use_patch_radius", &usePatch);
    rgSdf_NotNegative(sdf, node, "patch_radius", &radius);
    if (!usePatch) {
        rgXmlReader_Warn(&sdf->xml, node,
                         "<surface_radius> is not supported: without a <patch_radius> there is no "
                         "torsional friction");
    } else if (radius > 0) {
        material->muTorsion = 3 * RG_PI / 16 * radius * coefficient;
        material->dimension = RG_MAX(material->dimension, 4);
    }
}

static void rgSdf_ReadSoftness(rgSdf* sdf, const rgXmlNode* ode, rgMaterial* material) {
    static const char* const known[] = {"kp", "kd", NULL};
    static const char* const skipped[] = {
        "soft_cfm", "it sets up Gazebo's solver", "soft_erp",  "it sets up Gazebo's solver",
        "max_vel",  "it sets up Gazebo's solver", "min_depth", "it sets up Gazebo's solver",
        NULL};
    double stiffness = 0, damping = 0;
    rgSdf_CheckChildren(sdf, ode, known, skipped);
    bool soft = rgSdf_NotNegative(sdf, ode, "kp", &stiffness);
    rgSdf_NotNegative(sdf, ode, "kd", &damping);
    if (soft && sdf->def->fileContact) {
        material->stiffness = stiffness;
        material->damping = stiffness > 0 ? damping : 0; // a rigid contact has no damper
    } else if (soft && !sdf->notedSoftness) {
        sdf->notedSoftness = true;
        rgXmlReader_Note(
            &sdf->xml, ode,
            "<kp> and <kd> are not used: contacts are rigid; --contact file uses them");
    }
}

// A word of bits; those beyond 32 do not exist.
static bool rgSdf_Bits(rgSdf* sdf, const rgXmlNode* node, const char* name, uint32_t* bits) {
    const char* text = rgSdf_Text(node, name);
    if (text == NULL) {
        return false;
    }
    uint64_t value = 0;
    bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    const char* at = hex ? text + 2 : text;
    for (; *at != '\0' && value <= UINT32_MAX; ++at) {
        int digit = *at >= '0' && *at <= '9'          ? *at - '0'
                    : hex && *at >= 'a' && *at <= 'f' ? *at - 'a' + 10
                    : hex && *at >= 'A' && *at <= 'F' ? *at - 'A' + 10
                                                      : -1;
        if (digit < 0) {
            break;
        }
        value = (hex ? 16 : 10) * value + (uint64_t)digit;
    }
    if (*at != '\0' || value > UINT32_MAX || at == text) {
        rgXmlReader_Error(&sdf->xml, rgXmlNode_Child(node, name), "<%s>: '%.60s' is no bit mask",
                          name, text);
        return false;
    }
    *bits = (uint32_t)value;
    return true;
}

static void rgSdf_ReadContact(rgSdf* sdf, const rgXmlNode* contact, rgShapeDef* def) {
    static const char* const known[] = {"ode",
                                        "bullet",
                                        "collide_bitmask",
                                        "category_bitmask",
                                        "collide_without_contact",
                                        "collide_without_contact_bitmask",
                                        NULL};
    static const char* const skipped[] = {"poissons_ratio", "contacts have <kp> and <kd>",
                                          "elastic_modulus", "contacts have <kp> and <kd>", NULL};
    bool ghost = false;
    rgSdf_CheckChildren(sdf, contact, known, skipped);
    if (rgSdf_Bits(sdf, contact, "collide_bitmask", &def->mask)) {
        def->group = def->mask; // two meet that have a bit in common
    }
    rgSdf_Bits(sdf, contact, "category_bitmask", &def->group);
    rgSdf_Bool(sdf, contact, "collide_without_contact", &ghost);
    if (ghost) {
        def->visualOnly = true;
        rgXmlReader_Note(&sdf->xml, contact,
                         "<collide_without_contact>: the shape is shown and does not collide");
    }
    const rgXmlNode* ode = rgXmlNode_Child(contact, "ode");
    if (ode != NULL) {
        rgSdf_ReadSoftness(sdf, ode, &def->material);
    }
}

static void rgSdf_ReadBounce(rgSdf* sdf, const rgXmlNode* bounce, rgMaterial* material) {
    static const char* const known[] = {"restitution_coefficient", NULL};
    static const char* const skipped[] = {
        "threshold", "the threshold of slow impacts is an option of the world", NULL};
    rgSdf_CheckChildren(sdf, bounce, known, skipped);
    double restitution = 0;
    if (!rgSdf_NotNegative(sdf, bounce, "restitution_coefficient", &restitution)) {
        return;
    }
    if (restitution > 1) {
        rgXmlReader_Error(&sdf->xml, bounce, "<restitution_coefficient>: %g is above 1",
                          restitution);
        return;
    }
    material->restitution = restitution;
}

void rgSdf_ReadSurface(rgSdf* sdf, const rgXmlNode* collision, rgShapeDef* def) {
    static const char* const known[] = {"friction", "bounce", "contact", NULL};
    static const char* const skipped[] = {"soft_contact", "!bodies are rigid", NULL};
    def->material.mu = 1; // default of SDF
    def->material.frictionRule = rg_frictionMinimum;
    const rgXmlNode* surface = rgXmlNode_Child(collision, "surface");
    if (surface == NULL) {
        return;
    }
    rgSdf_CheckChildren(sdf, surface, known, skipped);
    const rgXmlNode* friction = rgXmlNode_Child(surface, "friction");
    const rgXmlNode* bounce = rgXmlNode_Child(surface, "bounce");
    const rgXmlNode* contact = rgXmlNode_Child(surface, "contact");
    if (friction != NULL) {
        rgSdf_ReadFriction(sdf, friction, &def->material);
        const rgXmlNode* torsion = rgXmlNode_Child(friction, "torsional");
        if (torsion != NULL) {
            rgSdf_ReadTorsion(sdf, torsion, &def->material);
        }
    }
    if (bounce != NULL) {
        rgSdf_ReadBounce(sdf, bounce, &def->material);
    }
    if (contact != NULL) {
        rgSdf_ReadContact(sdf, contact, def);
    }
}
