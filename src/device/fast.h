// Trees that turn fast: src/world/fast.c. Link velocities are carried through the step and
// projected on the joints. free.10-12, free.14.
#pragma once
#include "device/motion.h"

RG_MANY_FN rgVec3 rgManyRowsSolve(const rgVec3* m, rgVec3 right) {
    rgVec3 bc = rgCross(m[1], m[2]);
    double inverse = 1 / rgDot(m[0], bc);
    return rgVec(inverse * rgDot(right, bc), inverse * rgDot(m[0], rgCross(right, m[2])),
                 inverse * rgDot(m[0], rgCross(m[1], right)));
}

// free.10
RG_MANY_FN rgVec3 rgManyTurnRate(const rgSym3* I, rgVec3 o, double time) {
    if (I->xx == I->yy && I->yy == I->zz && I->xy == 0 && I->xz == 0 && I->yz == 0) {
        return o;
    }
    rgVec3 next = o, momentum = rgSym3_Multiply(I, o), m[3];
    for (int k = 0; k < RG_ROTATION_ITERATIONS; ++k) {
        rgVec3 L = rgScale(0.25 * time, rgAdd(momentum, rgSym3_Multiply(I, next)));
        m[0] = rgVec(I->xx, I->xy - L.z, I->xz + L.y);
        m[1] = rgVec(I->xy + L.z, I->yy, I->yz - L.x);
        m[2] = rgVec(I->xz - L.y, I->yz + L.x, I->zz);
        next = rgManyRowsSolve(m, rgAdd(momentum, rgCross(L, o)));
    }
    return next;
}

RG_MANY_FN void rgManyTurnLinks(const rgMany* w, int tree, double time, int rates) {
    const rgManyTree* range = w->m->trees + tree;
    for (int i = range->firstLink; i < range->firstLink + range->linkCount; ++i) {
        const rgManyLink* link = w->m->links + i;
        if (!link->massless) {
            int at = rates + 6 * i + 3;
            rgManySetVec(w, at, rgManyTurnRate(&link->moment, rgManyVec(w, at), time));
        }
    }
}

// rates := J v + scale rates where the tree is placed: velocities of centres of mass in world axes,
// and rates in axes of the link. linkV is scratch.
RG_MANY_FN void rgManyAddRates(const rgMany* w, int tree, int v, double scale, int rates) {
    const rgManyModel* m = w->m;
    const rgManyTree* range = m->trees + tree;
    for (int i = range->firstLink; i < range->firstLink + range->linkCount; ++i) {
        const rgManyLink* link = m->links + i;
        rgSpatial V = {{0, 0, 0}, {0, 0, 0}}, along;
        if (link->parent > 0) {
            V = rgManySpatial(w, m->work.linkV + 6 * link->parent);
        }
        for (int k = link->v; k < link->v + link->vCount; ++k) {
            V = rgSpatialAddScaled(V, RG_AT(w, v + k), rgManySpatial(w, m->work.axes + 6 * k));
        }
        rgManySetSpatial(w, m->work.linkV + 6 * i, V);
        rgRot r = rgManyRot(w, i);
        rgVec3 center = rgAdd(rgManyPlaceOf(w, i), rgRot_Apply(&r, link->center));
        along.linear = rgAdd(V.linear, rgCross(V.angular, center));
        along.angular = rgRot_ApplyBack(&r, V.angular);
        if (scale != 0) {
            along = rgSpatialAddScaled(along, scale, rgManySpatial(w, rates + 6 * i));
        }
        rgManySetSpatial(w, rates + 6 * i, along);
    }
}

// free.11: x := M^-1 J' of the momenta, by the factor of M that is made here; rotors turn with
// their joints.
RG_MANY_FN void rgManyProjectRates(const rgMany* w, int tree, int rates, int rotor, int x) {
    const rgManyModel* m = w->m;
    const rgManyTree* range = m->trees + tree;
    rgManyFactorTree(w, tree, -1);
    for (int i = range->firstLink; i < range->firstLink + range->linkCount; ++i) {
        const rgManyLink* link = m->links + i;
        rgSpatial force = {{0, 0, 0}, {0, 0, 0}}, rate = rgManySpatial(w, rates + 6 * i);
        if (!link->massless) {
            rgRot r = rgManyRot(w, i);
            rgVec3 center = rgAdd(rgManyPlaceOf(w, i), rgRot_Apply(&r, link->center));
            rgVec3 spin = rgRot_Apply(&r, rgSym3_Multiply(&link->moment, rate.angular));
            force.linear = rgScale(link->mass, rate.linear);
            force.angular = rgAdd(spin, rgCross(center, force.linear));
        }
        rgManySetSpatial(w, m->work.linkV + 6 * i, force);
    }
    rgManySumTreeForces(w, tree, x);
    for (int i = range->firstDof; i < range->firstDof + range->dofCount; ++i) {
        RG_AT(w, x + i) += m->dofs[i].armature * RG_AT(w, rotor + i);
    }
    rgManySolveTree(w, tree, x);
}

// x := dt (tau + weight), and the part of implicit forces that is not in v+ - v.
RG_MANY_FN void rgManyGatherFast(const rgMany* w, int tree, double dt, int tau, int added, int v,
                                 int middle, int x) {
    const rgManyModel* m = w->m;
    const rgManyTree* range = m->trees + tree;
    for (int i = range->firstLink; i < range->firstLink + range->linkCount; ++i) {
        rgRot r = rgManyRot(w, i);
        rgVec3 center = rgAdd(rgManyPlaceOf(w, i), rgRot_Apply(&r, m->links[i].center));
        rgSpatial force;
        force.linear = rgScale(m->links[i].mass, m->gravity);
        force.angular = rgCross(center, force.linear);
        rgManySetSpatial(w, m->work.linkV + 6 * i, force);
    }
    rgManySumTreeForces(w, tree, x);
    for (int i = range->firstDof; i < range->firstDof + range->dofCount; ++i) {
        RG_AT(w, x + i) = dt * (RG_AT(w, x + i) + RG_AT(w, tau + i)) +
                          2 * RG_AT(w, added + i) * (RG_AT(w, v + i) - RG_AT(w, middle + i));
    }
}

// free.10 and free.11 of the start of the step. The tree ends placed in the middle, with M.
RG_MANY_FN void rgManyTransportStart(const rgMany* w, int tree) {
    const rgManyModel* m = w->m;
    const rgManyTree* range = m->trees + tree;
    int first = m->links[range->firstLink].q, last = range->firstLink + range->linkCount - 1;
    int end = m->links[last].q + (m->links[last].kind == rg_manyFree        ? 7
                                  : m->links[last].kind == rg_manySpherical ? 4
                                                                            : 1);
    for (int k = first; k < end; ++k) {
        RG_W(w, flightQ, k) = RG_S(w, q, k);
    }
    rgManyPlaceTree(w, tree, m->work.flightQ);
    rgManyAddRates(w, tree, m->work.v, 0, m->work.rejected);
    rgManyTurnLinks(w, tree, RG_W(w, drift, tree), m->work.rejected);
    rgManyPlaceTree(w, tree, m->work.q);
    rgManySumInertias(w, tree);
    rgManyFillMass(w, tree);
    rgManyProjectRates(w, tree, m->work.rejected, m->work.v, m->work.projectedV);
    rgManyAddRates(w, tree, m->work.projectedV, -1, m->work.rejected);
}

// Velocity of the coordinates of a fast tree less that of the rows.
RG_MANY_FN double rgManyProjectionChange(const rgMany* w, int dof) {
    return RG_W(w, projectedV, dof) - RG_W(w, v, dof);
}

// free.12: of a transported tree, the velocity of the coordinates from v+, and link velocities at
// the end.
RG_MANY_FN void rgManyTransportEnd(const rgMany* w, int tree) {
    const rgManyModel* m = w->m;
    const rgManyTree* range = m->trees + tree;
    for (int i = range->firstDof; i < range->firstDof + range->dofCount; ++i) {
        double change = rgManyProjectionChange(w, i);
        RG_W(w, endV, i) = RG_W(w, nextV, i) + (RG_WI(w, isFast, tree) ? change : 0);
        RG_W(w, y, i) = RG_W(w, endV, i) - change;
    }
    rgManyAddRates(w, tree, m->work.y, 1, m->work.rejected);
    rgManyTurnLinks(w, tree, m->dt - RG_W(w, drift, tree), m->work.rejected);
}

// free.11 at q+, where the tree is placed.
RG_MANY_FN void rgManyProjectEnd(const rgMany* w, int tree) {
    const rgManyModel* m = w->m;
    const rgManyTree* range = m->trees + tree;
    rgManyPlaceTree(w, tree, m->work.nextQ);
    rgManySumInertias(w, tree);
    rgManyFillMass(w, tree);
    rgManyProjectRates(w, tree, m->work.rejected, m->work.endV, m->work.y);
    for (int i = range->firstDof; i < range->firstDof + range->dofCount; ++i) {
        RG_W(w, endV, i) = RG_W(w, y, i);
    }
}
