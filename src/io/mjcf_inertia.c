// Inertias of MJCF bodies: from <inertial> or from geoms, with the compiler's corrections; and the
// softness of contacts, which needs the masses.
#include "io/mjcf.h"

#include <math.h>

static const char* const inertialKnown[] = {"pos",    "quat",  "mass",  "diaginertia", "axisangle",
                                            "xyaxes", "zaxis", "euler", "fullinertia", NULL};

static bool rgHasOrientation(const rgXmlNode* node) {
    const char* const names[] = {"quat", "axisangle", "xyaxes", "zaxis", "euler"};
    for (int i = 0; i < RG_COUNT(names); ++i) {
        if (rgXmlNode_Attribute(node, names[i]) != NULL) {
            return true;
        }
    }
    return false;
}

// Moment in the axes of <inertial>: diagonal, or full in the axes of the body.
static rgSym3 rgMjcf_ReadMoment(rgMjcf* m, const rgXmlNode* node, rgPose pose) {
    double d[3] = {0}, f[6] = {0};
    bool full = rgXmlReader_Doubles(&m->reader, node, "fullinertia", f, 6, 6) > 0;
    bool diagonal = rgXmlReader_Doubles(&m->reader, node, "diaginertia", d, 3, 3) > 0;
    if (full && (diagonal || rgHasOrientation(node))) {
        rgXmlReader_Error(&m->reader, node,
                          "<inertial>: fullinertia excludes diaginertia and an orientation");
    }
    if (full) {
        return (rgSym3){.xx = f[0], .yy = f[1], .zz = f[2], .xy = f[3], .xz = f[4], .yz = f[5]};
    }
    if (!diagonal) {
        rgXmlReader_Error(&m->reader, node, "<inertial>: has neither diaginertia nor fullinertia");
    }
    rgSym3 principal = {.xx = d[0], .yy = d[1], .zz = d[2]};
    return rgSym3Rotate(pose.q, &principal);
}

static rgInertia rgMjcf_ReadInertial(rgMjcf* m, const rgXmlNode* node, rgMjBody* body) {
    rgInertia inertia = {0};
    rgMjPlace place = rgMjcf_NoPlace();
    rgXmlReader_CheckAttributes(&m->reader, node, inertialKnown);
    if (rgXmlReader_Required(&m->reader, node, "pos") == NULL ||
        rgXmlReader_Required(&m->reader, node, "mass") == NULL) {
        return inertia;
    }
    rgMjcf_ReadPlace(m, node, &place);
    rgPose pose = rgMjcf_Pose(m, node, &place);
    rgXmlReader_Double(&m->reader, node, "mass", &inertia.mass);
    inertia.center = pose.p;
    inertia.moment = rgMjcf_ReadMoment(m, node, pose);
    body->inertiaAxes = pose.q;
    body->axesKnown = rgXmlNode_Attribute(node, "diaginertia") != NULL;
    return inertia;
}

static rgSym3 rgWithPrincipal(rgVec3 moments, rgQuat axes) {
    rgSym3 diagonal = {.xx = moments.x, .yy = moments.y, .zz = moments.z};
    return rgSym3Rotate(axes, &diagonal);
}

// boundmass, boundinertia and balanceinertia, in MuJoCo's order; then the check that is left.
static void rgMjcf_Correct(rgMjcf* m, const rgXmlNode* node, rgInertia* inertia) {
    const rgMjCompiler* c = &m->compiler;
    rgQuat axes = rgQuatIdentity();
    rgVec3 p = rgSym3Eigen(&inertia->moment, &axes); // largest first
    if (inertia->mass < 0 || p.z < -1e-12 * p.x) {
        rgXmlReader_Error(&m->reader, node, "<%s>: mass or inertia is negative", node->name);
        return;
    }
    inertia->mass = RG_MAX(inertia->mass, c->boundMass);
    if (p.z < c->boundInertia) {
        p = rgVec(RG_MAX(p.x, c->boundInertia), RG_MAX(p.y, c->boundInertia),
                  RG_MAX(p.z, c->boundInertia));
        inertia->moment = rgWithPrincipal(p, axes);
    }
    if (p.y + p.z >= p.x * (1 - 1e-12)) {
        return;
    }
    if (c->balanceInertia) {
        double mean = (p.x + p.y + p.z) / 3;
        inertia->moment = (rgSym3){.xx = mean, .yy = mean, .zz = mean};
    } else {
        rgXmlReader_Error(&m->reader, node,
                          "<%s>: the largest principal inertia %g is above the sum of the others "
                          "%g; balanceinertia corrects it",
                          node->name, p.x, p.y + p.z);
    }
}

bool rgMjcf_HasInertial(const rgXmlNode* body) {
    const rgXmlNode* inertial = rgXmlNode_Child(body, "inertial");
    return inertial != NULL && rgXmlNode_Attribute(inertial, "mass") != NULL;
}

void rgMjcf_SetInertia(rgMjcf* m, const rgXmlNode* node, int number, const rgInertia* fromGeoms,
                       int geomCount, rgQuat geomAxes) {
    const rgXmlNode* inertial = rgXmlNode_Child(node, "inertial");
    rgMjBody* body = &m->bodies[number];
    int rule = m->compiler.inertiaFromGeom;
    rgInertia inertia = {0};
    bool useGeoms = geomCount > 0 && (rule == rg_mjInertiaTrue ||
                                      (rule == rg_mjInertiaAuto && !rgMjcf_HasInertial(node)));
    if (inertial != NULL && useGeoms && rule == rg_mjInertiaAuto) {
        rgXmlReader_Warn(&m->reader, inertial,
                         "<inertial>: has no mass; the mass is that of its geoms");
    } else if (inertial != NULL && !useGeoms) {
        inertia = rgMjcf_ReadInertial(m, inertial, body);
    }
    if (useGeoms) {
        inertia = *fromGeoms;
        body->axesKnown = geomCount == 1;
        body->inertiaAxes = geomCount == 1 ? geomAxes : rgQuatIdentity();
    }
    rgMjcf_Correct(m, inertial != NULL && !useGeoms ? inertial : node, &inertia);
    m->def->bodies[number].inertia = inertia;
    if (body->axesKnown) {
        m->def->bodies[number].fluidAxes = body->inertiaAxes;
    }
}

void rgMjcf_SetTotalMass(rgMjcf* m, const rgXmlNode* root) {
    double total = 0;
    for (int i = 0; i < m->def->bodyCount; ++i) {
        total += m->def->bodies[i].inertia.mass;
    }
    double wanted = m->compiler.totalMass;
    if (wanted > 0 && !(total > 0)) {
        rgXmlReader_Error(&m->reader, root, "<compiler settotalmass>: there is no mass to scale");
    }
    double scale = wanted > 0 && total > 0 ? wanted / total : 1;
    for (int i = 0; i < m->def->bodyCount; ++i) {
        rgInertia* inertia = &m->def->bodies[i].inertia;
        if (scale != 1) {
            *inertia = rgInertiaWithMass(inertia, scale * inertia->mass);
        }
        m->bodies[m->bodies[i].root].treeMass += inertia->mass;
    }
}

double rgMjcf_TreeMass(const rgMjcf* m, rgBodyId body) {
    if (body.index1 == 0) {
        return INFINITY;
    }
    const rgMjBody* root = &m->bodies[m->bodies[body.index1 - 1].root];
    return root->treeMoves ? root->treeMass : INFINITY;
}

double rgMjcf_ReducedMass(double a, double b) {
    if (isinf(a) || isinf(b)) {
        return isinf(a) ? (isinf(b) ? 1 : b) : a;
    }
    return a + b > 0 ? a * b / (a + b) : 0;
}
