// Motion of a world: kinematics, M and its factor, bias, positions. One thread per world, in C that
// gcc and nvcc take; equations are those of docs/theory/dynamics.md and free.md.
#pragma once
#include "device/plan.h"
#include "lanes/lanes.h"
#include "world/tuning.h"

#define RG_MANY_FN RG_BOTH_FN inline

RG_MANY_FN rgVec3 rgManyVec(const rgMany* w, int at) {
    return rgVec(RG_AT(w, at), RG_AT(w, at + 1), RG_AT(w, at + 2));
}

RG_MANY_FN void rgManySetVec(const rgMany* w, int at, rgVec3 x) {
    RG_AT(w, at) = x.x;
    RG_AT(w, at + 1) = x.y;
    RG_AT(w, at + 2) = x.z;
}

RG_MANY_FN rgSpatial rgManySpatial(const rgMany* w, int at) {
    rgSpatial x = {rgManyVec(w, at), rgManyVec(w, at + 3)};
    return x;
}

RG_MANY_FN void rgManySetSpatial(const rgMany* w, int at, rgSpatial x) {
    rgManySetVec(w, at, x.linear);
    rgManySetVec(w, at + 3, x.angular);
}

RG_MANY_FN rgQuat rgManyQuat(const rgMany* w, int at) {
    rgQuat q = {RG_AT(w, at), RG_AT(w, at + 1), RG_AT(w, at + 2), RG_AT(w, at + 3)};
    return q;
}

RG_MANY_FN void rgManySetQuat(const rgMany* w, int at, rgQuat q) {
    RG_AT(w, at) = q.w;
    RG_AT(w, at + 1) = q.x;
    RG_AT(w, at + 2) = q.y;
    RG_AT(w, at + 3) = q.z;
}

RG_MANY_FN rgRot rgManyRot(const rgMany* w, int link) {
    int at = w->m->work.poses + 12 * link;
    rgRot r = {rgManyVec(w, at), rgManyVec(w, at + 3), rgManyVec(w, at + 6)};
    return r;
}

RG_MANY_FN rgVec3 rgManyPlaceOf(const rgMany* w, int link) {
    return rgManyVec(w, w->m->work.poses + 12 * link + 9);
}

// Reference point of the tree of a link.
RG_MANY_FN rgVec3 rgManyOrigin(const rgMany* w, int link) {
    int tree = w->m->links[link].tree;
    return tree >= 0 ? rgManyVec(w, w->m->work.origins + 3 * tree) : rgVec(0, 0, 0);
}

RG_MANY_FN double rgManyMost(double a, double b) {
    return a > b ? a : b;
}

RG_MANY_FN double rgManyLeast(double a, double b) {
    return a < b ? a : b;
}

RG_MANY_FN void rgManyFail(const rgMany* w, rgManyReason reason) {
    if (RG_WI(w, reason, 0) == rg_manyDone) {
        RG_WI(w, reason, 0) = (int)reason;
    }
}

// ---- rotations

// Sine and cosine with the bits of rgSinCos(), for angles up to 1e5; of others none.
RG_MANY_FN void rgManySinCos(double x, double* s, double* c) {
    const double magic = 6755399441055744.0; // 1.5 * 2^52: adding it rounds to an integer
    union {
        double number;
        int64_t bits;
    } t, sine, cosine;
    if (!(fabs(x) <= 1e5)) {
        *s = *c = NAN;
        return;
    }
    t.number = x * 0.636619772367581343 + magic;
    int64_t quadrant = t.bits;
    double k = t.number - magic;
    double r = (x - k * 1.57079632673412561417e+00) - k * 6.07710050650619224932e-11;
    double z = r * r;
    double p = 1.58969099521155010221e-10;
    p = p * z - 2.50507602534068634195e-08;
    p = p * z + 2.75573137070700676789e-06;
    p = p * z - 1.98412698298579493134e-04;
    p = p * z + 8.33333333332248946124e-03;
    p = p * z - 1.66666666666666324348e-01;
    sine.number = r + r * z * p;
    p = -1.13596475577881948265e-11;
    p = p * z + 2.08757232129817482790e-09;
    p = p * z - 2.75573143513906633035e-07;
    p = p * z + 2.48015872894767294178e-05;
    p = p * z - 1.38888888888741095749e-03;
    p = p * z + 4.16666666666666019037e-02;
    double half = 0.5 * z, rest = 1 - half;
    cosine.number = rest + ((1 - rest - half) + z * z * p);
    double a = quadrant & 1 ? cosine.number : sine.number;
    double b = quadrant & 1 ? sine.number : cosine.number;
    *s = quadrant & 2 ? -a : a;
    *c = (quadrant + 1) & 2 ? -b : b;
}

RG_MANY_FN rgQuat rgManyExp(rgVec3 rotation) {
    double angle = rgLength(rotation), sine, cosine;
    rgManySinCos(0.5 * angle, &sine, &cosine);
    double s = angle > 1e-4 ? sine / angle : 0.5 - angle * angle / 48;
    rgQuat q = {cosine, s * rotation.x, s * rotation.y, s * rotation.z};
    return q;
}

// Rotation vector of a rotation by less than 0.4 rad; *good: it is one.
RG_MANY_FN rgVec3 rgManyLogSmall(rgQuat q, int* good) {
    double sign = q.w < 0 ? -1 : 1;
    rgVec3 u = rgVec(sign * q.x, sign * q.y, sign * q.z);
    double z = rgLengthSquared(u);
    *good = *good && z < 0.04;
    double p = 0; // asin(s)/s - 1, z = s^2, by its series from the end
    for (int k = 10; k > 0; --k) {
        double odd = 2.0 * k - 1;
        p = z * (odd / (2.0 * k)) * (1 / (2.0 * k + 1) + p);
    }
    return rgScale(2 * (1 + p), u);
}

// ---- kinematics

RG_MANY_FN void rgManyTurnFrame(rgRot* r, int axis, double c, double s) {
    rgVec3 a, b;
    if (axis == 0) {
        a = r->y, b = r->z;
        r->y = rgAddScaled(rgScale(c, a), s, b);
        r->z = rgAddScaled(rgScale(c, b), -s, a);
    } else if (axis == 1) {
        a = r->z, b = r->x;
        r->z = rgAddScaled(rgScale(c, a), s, b);
        r->x = rgAddScaled(rgScale(c, b), -s, a);
    } else {
        a = r->x, b = r->y;
        r->x = rgAddScaled(rgScale(c, a), s, b);
        r->y = rgAddScaled(rgScale(c, b), -s, a);
    }
}

RG_MANY_FN void rgManySetAxis(const rgMany* w, int dof, rgVec3 linear, rgVec3 angular) {
    rgSpatial axis = {linear, angular};
    rgManySetSpatial(w, w->m->work.axes + 6 * dof, axis);
}

RG_MANY_FN void rgManyAxesOf(const rgMany* w, const rgManyLink* link, const rgRot* r, rgVec3 p) {
    const rgVec3 none = rgVec(0, 0, 0);
    if (link->kind == rg_manyFree) {
        rgManySetAxis(w, link->v, rgVec(1, 0, 0), none);
        rgManySetAxis(w, link->v + 1, rgVec(0, 1, 0), none);
        rgManySetAxis(w, link->v + 2, rgVec(0, 0, 1), none);
        rgManySetAxis(w, link->v + 3, none, r->x);
        rgManySetAxis(w, link->v + 4, none, r->y);
        rgManySetAxis(w, link->v + 5, none, r->z);
    } else if (link->kind == rg_manySpherical) {
        rgManySetAxis(w, link->v, rgCross(p, r->x), r->x);
        rgManySetAxis(w, link->v + 1, rgCross(p, r->y), r->y);
        rgManySetAxis(w, link->v + 2, rgCross(p, r->z), r->z);
    } else {
        rgVec3 axis = rgScale(link->sign, link->axis == 0 ? r->x : link->axis == 1 ? r->y : r->z);
        if (link->kind == rg_manyRevolute) {
            rgManySetAxis(w, link->v, rgCross(p, axis), axis);
        } else {
            rgManySetAxis(w, link->v, axis, none);
        }
    }
}

// dynamics.1-3 of one tree at positions q.
RG_MANY_FN void rgManyPlaceTree(const rgMany* w, int tree, int q) {
    const rgManyModel* m = w->m;
    const rgManyTree* range = m->trees + tree;
    for (int i = range->firstLink; i < range->firstLink + range->linkCount; ++i) {
        const rgManyLink* link = m->links + i;
        int at = q + link->q;
        rgRot parent = rgManyRot(w, link->parent), r = parent;
        rgVec3 p = rgAdd(rgManyPlaceOf(w, link->parent), rgRot_Apply(&parent, link->origin));
        if (!link->unrotated) {
            r = rgRot_Multiply(&parent, &link->rotation);
        }
        if (link->kind == rg_manyRevolute) {
            double s, c;
            rgManySinCos(RG_AT(w, at), &s, &c);
            rgManyTurnFrame(&r, link->axis, c, link->sign * s);
        } else if (link->kind == rg_manyPrismatic) {
            rgVec3 axis = rgScale(link->sign, link->axis == 0 ? r.x : link->axis == 1 ? r.y : r.z);
            p = rgAddScaled(p, RG_AT(w, at), axis);
        } else if (link->kind == rg_manySpherical) {
            rgRot turn = rgRotFromQuat(rgQuatNormalize(rgManyQuat(w, at)));
            r = rgRot_Multiply(&r, &turn);
        } else {
            r = rgRotFromQuat(rgQuatNormalize(rgManyQuat(w, at + 3)));
            p = rgManyVec(w, at);
        }
        if (link->parent == 0) {
            rgManySetVec(w, m->work.origins + 3 * tree, p);
            p = rgVec(0, 0, 0);
        }
        rgManyAxesOf(w, link, &r, p);
        int pose = m->work.poses + 12 * i;
        rgManySetVec(w, pose, r.x);
        rgManySetVec(w, pose + 3, r.y);
        rgManySetVec(w, pose + 6, r.z);
        rgManySetVec(w, pose + 9, p);
    }
}

// dynamics.4-5: velocities and biases of one tree at velocities v.
RG_MANY_FN void rgManyMoveTree(const rgMany* w, int tree, int v) {
    const rgManyModel* m = w->m;
    const rgManyTree* range = m->trees + tree;
    for (int i = range->firstLink; i < range->firstLink + range->linkCount; ++i) {
        const rgManyLink* link = m->links + i;
        rgSpatial none = {{0, 0, 0}, {0, 0, 0}}, joint = none;
        for (int k = link->v; k < link->v + link->vCount; ++k) {
            joint =
                rgSpatialAddScaled(joint, RG_AT(w, v + k), rgManySpatial(w, m->work.axes + 6 * k));
        }
        int root = link->parent == 0;
        rgSpatial above = root ? none : rgManySpatial(w, m->work.velocities + 6 * link->parent);
        rgSpatial before = root ? none : rgManySpatial(w, m->work.biases + 6 * link->parent);
        rgSpatial velocity = rgSpatialAdd(above, joint);
        rgSpatial bias = rgMotionCross(&velocity, &joint);
        if (link->kind == rg_manyFree) {
            bias.linear = rgNegate(rgCross(velocity.angular, velocity.linear));
        }
        rgManySetSpatial(w, m->work.velocities + 6 * i, velocity);
        rgManySetSpatial(w, m->work.biases + 6 * i, rgSpatialAdd(before, bias));
    }
}

// Velocities of all links for a given v, and of the world.
RG_MANY_FN void rgManySetLinkVelocities(const rgMany* w, int v) {
    const rgManyModel* m = w->m;
    rgSpatial none = {{0, 0, 0}, {0, 0, 0}};
    rgManySetSpatial(w, m->work.linkV, none);
    for (int i = 1; i < m->linkCount; ++i) {
        const rgManyLink* link = m->links + i;
        rgSpatial sum = rgManySpatial(w, m->work.linkV + 6 * link->parent);
        for (int k = link->v; k < link->v + link->vCount; ++k) {
            sum = rgSpatialAddScaled(sum, RG_AT(w, v + k), rgManySpatial(w, m->work.axes + 6 * k));
        }
        rgManySetSpatial(w, m->work.linkV + 6 * i, sum);
    }
}

// ---- M

RG_MANY_FN rgSym3 rgManyCongruence(const rgRot* r, const rgSym3* s) {
    rgVec3 a = rgRot_Apply(r, rgVec(s->xx, s->xy, s->xz));
    rgVec3 b = rgRot_Apply(r, rgVec(s->xy, s->yy, s->yz));
    rgVec3 c = rgRot_Apply(r, rgVec(s->xz, s->yz, s->zz));
    rgSym3 out;
    out.xx = a.x * r->x.x + b.x * r->y.x + c.x * r->z.x;
    out.yy = a.y * r->x.y + b.y * r->y.y + c.y * r->z.y;
    out.zz = a.z * r->x.z + b.z * r->y.z + c.z * r->z.z;
    out.xy = a.x * r->x.y + b.x * r->y.y + c.x * r->z.y;
    out.xz = a.x * r->x.z + b.x * r->y.z + c.x * r->z.z;
    out.yz = a.y * r->x.z + b.y * r->y.z + c.y * r->z.z;
    return out;
}

RG_MANY_FN rgSym3 rgManySym(const rgMany* w, int at) {
    rgSym3 s = {RG_AT(w, at),     RG_AT(w, at + 1), RG_AT(w, at + 2),
                RG_AT(w, at + 3), RG_AT(w, at + 4), RG_AT(w, at + 5)};
    return s;
}

// dynamics.6, dynamics.10: inertias of a tree about their centres, and sums about its origin.
RG_MANY_FN void rgManySumInertias(const rgMany* w, int tree) {
    const rgManyModel* m = w->m;
    const rgManyTree* range = m->trees + tree;
    int first = range->firstLink, end = first + range->linkCount;
    for (int i = first; i < end; ++i) {
        const rgManyLink* link = m->links + i;
        rgRot r = rgManyRot(w, i);
        rgVec3 c = rgAdd(rgManyPlaceOf(w, i), rgRot_Apply(&r, link->center));
        rgSym3 s = rgManyCongruence(&r, &link->moment);
        double mass = link->mass, mx = mass * c.x, my = mass * c.y, mz = mass * c.z;
        int own = m->work.inertias + 9 * i, sum = m->work.composites + 10 * i;
        rgManySetVec(w, own, c);
        RG_AT(w, own + 3) = s.xx, RG_AT(w, own + 4) = s.yy, RG_AT(w, own + 5) = s.zz;
        RG_AT(w, own + 6) = s.xy, RG_AT(w, own + 7) = s.xz, RG_AT(w, own + 8) = s.yz;
        RG_AT(w, sum) = mass;
        rgManySetVec(w, sum + 1, rgVec(mx, my, mz));
        RG_AT(w, sum + 4) = s.xx + my * c.y + mz * c.z;
        RG_AT(w, sum + 5) = s.yy + mx * c.x + mz * c.z;
        RG_AT(w, sum + 6) = s.zz + mx * c.x + my * c.y;
        RG_AT(w, sum + 7) = s.xy - mx * c.y;
        RG_AT(w, sum + 8) = s.xz - mx * c.z;
        RG_AT(w, sum + 9) = s.yz - my * c.z;
    }
    for (int i = end - 1; i >= first; --i) {
        int parent = m->links[i].parent;
        for (int k = 0; k < 10 && parent > 0; ++k) {
            RG_AT(w, m->work.composites + 10 * parent + k) +=
                RG_AT(w, m->work.composites + 10 * i + k);
        }
    }
}

// dynamics.11: compact rows of a tree.
RG_MANY_FN void rgManyFillMass(const rgMany* w, int tree) {
    const rgManyModel* m = w->m;
    const rgManyTree* range = m->trees + tree;
    for (int i = range->firstDof; i < range->firstDof + range->dofCount; ++i) {
        const rgManyDof* dof = m->dofs + i;
        int at = m->work.composites + 10 * dof->link;
        rgSpatial axis = rgManySpatial(w, m->work.axes + 6 * i), force;
        rgVec3 h = rgManyVec(w, at + 1);
        rgSym3 moment = rgManySym(w, at + 4);
        force.linear = rgAdd(rgScale(RG_AT(w, at), axis.linear), rgCross(axis.angular, h));
        force.angular = rgAdd(rgSym3_Multiply(&moment, axis.angular), rgCross(h, axis.linear));
        for (int k = 0; k < dof->depth; ++k) {
            rgSpatial other =
                rgManySpatial(w, m->work.axes + 6 * m->massColumns[dof->rowStart + k]);
            RG_W(w, mass, dof->rowStart + k) = rgSpatialDot(&other, &force);
        }
        RG_W(w, mass, dof->rowStart) += dof->armature;
    }
}

// dynamics.12: M + added = L' D L; added -1: none.
RG_MANY_FN void rgManyFactorTree(const rgMany* w, int tree, int added) {
    const rgManyModel* m = w->m;
    const rgManyTree* range = m->trees + tree;
    int first = range->firstDof, end = first + range->dofCount;
    const rgManyDof* last = m->dofs + end - 1;
    for (int k = m->dofs[first].rowStart; k < last->rowStart + last->depth; ++k) {
        RG_W(w, factor, k) = RG_W(w, mass, k);
    }
    for (int i = first; i < end && added >= 0; ++i) {
        RG_W(w, factor, m->dofs[i].rowStart) += RG_AT(w, added + i);
    }
    for (int i = end - 1; i >= first; --i) {
        const rgManyDof* dof = m->dofs + i;
        double pivot = RG_W(w, factor, dof->rowStart), inverse = 1 / pivot;
        if (!(pivot > 0)) {
            rgManyFail(w, rg_manyNumbers);
            inverse = 0;
        }
        RG_W(w, inverse, i) = inverse;
        for (int k = 1; k < dof->depth; ++k) {
            double scaled = RG_W(w, factor, dof->rowStart + k) * inverse;
            int above = m->dofs[m->massColumns[dof->rowStart + k]].rowStart;
            for (int j = 0; j < dof->depth - k; ++j) {
                RG_W(w, factor, above + j) -= scaled * RG_W(w, factor, dof->rowStart + k + j);
            }
            RG_W(w, factor, dof->rowStart + k) = scaled;
        }
    }
}

// x := L^-T x
RG_MANY_FN void rgManyReduceTree(const rgMany* w, int tree, int x) {
    const rgManyModel* m = w->m;
    const rgManyTree* range = m->trees + tree;
    for (int i = range->firstDof + range->dofCount - 1; i >= range->firstDof; --i) {
        const rgManyDof* dof = m->dofs + i;
        double own = RG_AT(w, x + i);
        for (int k = 1; k < dof->depth; ++k) {
            RG_AT(w, x + m->massColumns[dof->rowStart + k]) -=
                RG_W(w, factor, dof->rowStart + k) * own;
        }
    }
}

// x := L^-1 D^-1 x
RG_MANY_FN void rgManyFollowTree(const rgMany* w, int tree, int x) {
    const rgManyModel* m = w->m;
    const rgManyTree* range = m->trees + tree;
    for (int i = range->firstDof; i < range->firstDof + range->dofCount; ++i) {
        const rgManyDof* dof = m->dofs + i;
        double sum = RG_AT(w, x + i) * RG_W(w, inverse, i);
        for (int k = 1; k < dof->depth; ++k) {
            sum -= RG_W(w, factor, dof->rowStart + k) *
                   RG_AT(w, x + m->massColumns[dof->rowStart + k]);
        }
        RG_AT(w, x + i) = sum;
    }
}

RG_MANY_FN void rgManySolveTree(const rgMany* w, int tree, int x) {
    rgManyReduceTree(w, tree, x);
    rgManyFollowTree(w, tree, x);
}

// ---- bias

// dynamics.9: out = S . F of the forces in the place of linkV, each added to its parent's.
RG_MANY_FN void rgManySumTreeForces(const rgMany* w, int tree, int out) {
    const rgManyModel* m = w->m;
    const rgManyTree* range = m->trees + tree;
    int first = range->firstLink, end = first + range->linkCount;
    for (int i = end - 1; i >= first; --i) {
        const rgManyLink* link = m->links + i;
        rgSpatial force = rgManySpatial(w, m->work.linkV + 6 * i);
        for (int k = link->v; k < link->v + link->vCount; ++k) {
            rgSpatial axis = rgManySpatial(w, m->work.axes + 6 * k);
            RG_AT(w, out + k) = rgSpatialDot(&axis, &force);
        }
        if (link->parent > 0) {
            int above = m->work.linkV + 6 * link->parent;
            rgManySetSpatial(w, above, rgSpatialAdd(rgManySpatial(w, above), force));
        }
    }
}

// dynamics.8-9: b at the present velocities. Forces take the place of linkV.
RG_MANY_FN void rgManyTreeBias(const rgMany* w, int tree, int out) {
    const rgManyModel* m = w->m;
    const rgManyTree* range = m->trees + tree;
    int first = range->firstLink, end = first + range->linkCount;
    for (int i = first; i < end; ++i) {
        const rgManyLink* link = m->links + i;
        rgSpatial force = {{0, 0, 0}, {0, 0, 0}};
        if (!link->massless) {
            rgSpatial V = rgManySpatial(w, m->work.velocities + 6 * i);
            rgSpatial A = rgManySpatial(w, m->work.biases + 6 * i);
            A.linear = rgSub(A.linear, m->gravity);
            rgVec3 c = rgManyVec(w, m->work.inertias + 9 * i), o = V.angular;
            rgSym3 moment = rgManySym(w, m->work.inertias + 9 * i + 3);
            rgVec3 centerVelocity = rgAdd(V.linear, rgCross(o, c));
            rgVec3 acceleration =
                rgAdd(rgAdd(A.linear, rgCross(A.angular, c)), rgCross(o, centerVelocity));
            force.linear = rgScale(link->mass, acceleration);
            rgVec3 torque =
                rgAdd(rgSym3_Multiply(&moment, A.angular), rgCross(o, rgSym3_Multiply(&moment, o)));
            force.angular = rgAdd(torque, rgCross(c, force.linear));
        }
        rgManySetSpatial(w, m->work.linkV + 6 * i, force);
    }
    rgManySumTreeForces(w, tree, out);
}

// ---- positions

RG_MANY_FN rgQuat rgManyTurned(rgQuat q, rgVec3 rate, double time) {
    return rgQuatNormalize(rgQuatMultiply(q, rgManyExp(rgScale(time, rate))));
}

// step.13: next := q moved by v for a time; next may be q.
RG_MANY_FN void rgManyIntegrateTree(const rgMany* w, int tree, int q, int v, double time,
                                    int next) {
    const rgManyModel* m = w->m;
    const rgManyTree* range = m->trees + tree;
    for (int i = range->firstLink; i < range->firstLink + range->linkCount; ++i) {
        const rgManyLink* link = m->links + i;
        int from = q + link->q, rate = v + link->v, out = next + link->q;
        if (link->kind == rg_manySpherical) {
            rgManySetQuat(w, out, rgManyTurned(rgManyQuat(w, from), rgManyVec(w, rate), time));
        } else if (link->kind == rg_manyFree) {
            rgQuat turn = rgManyQuat(w, from + 3);
            rgQuat turned = rgManyTurned(turn, rgManyVec(w, rate + 3), time);
            rgVec3 velocity = rgManyVec(w, rate), offset = rgVec(0, 0, 0), c = link->center;
            if (range->isFreeBody && (c.x != 0 || c.y != 0 || c.z != 0)) {
                rgVec3 arm = rgRotate(turn, c);
                velocity = rgAdd(velocity, rgCross(rgRotate(turn, rgManyVec(w, rate + 3)), arm));
                offset = rgSub(arm, rgRotate(turned, c));
            }
            rgVec3 p = rgManyVec(w, from);
            rgManySetVec(w, out,
                         rgVec(p.x + (time * velocity.x + offset.x),
                               p.y + (time * velocity.y + offset.y),
                               p.z + (time * velocity.z + offset.z)));
            rgManySetQuat(w, out + 3, turned);
        } else {
            RG_AT(w, out) = RG_AT(w, from) + time * RG_AT(w, rate);
        }
    }
}

// step.14: a free body keeps the velocity of its centre while it turns.
RG_MANY_FN void rgManyTransformTree(const rgMany* w, int tree, int from, int to, int v) {
    const rgManyTree* range = w->m->trees + tree;
    const rgManyLink* link = w->m->links + range->firstLink;
    rgVec3 c = link->center;
    if (range->isFreeBody && (c.x != 0 || c.y != 0 || c.z != 0)) {
        int at = v + link->v;
        rgVec3 swing = rgCross(rgManyVec(w, at + 3), c);
        rgVec3 change = rgSub(rgRotate(rgManyQuat(w, from + link->q + 3), swing),
                              rgRotate(rgManyQuat(w, to + link->q + 3), swing));
        rgManySetVec(w, at, rgAdd(rgManyVec(w, at), change));
    }
}

// Change of v that counts in the turn of a tree: none, that in the last step, in the state, or that
// from the start of this one.
enum { rg_manyNoChange, rg_manyLastChange, rg_manyThisChange };

// Angle of the fastest joint of a tree in a step with v.
RG_MANY_FN double rgManyTreeTurn(const rgMany* w, int tree, int v, int kind) {
    const rgManyModel* m = w->m;
    const rgManyTree* range = m->trees + tree;
    double most = 0;
    for (int i = range->firstLink; i < range->firstLink + range->linkCount; ++i) {
        const rgManyLink* link = m->links + i;
        int first = link->v + (link->kind == rg_manyFree ? 3 : 0), count = link->vCount < 3 ? 1 : 3;
        double square = 0, changed = 0;
        for (int k = 0; k < count; ++k) {
            double rate = RG_AT(w, v + first + k);
            double change = kind == rg_manyLastChange   ? RG_S(w, change, first + k)
                            : kind == rg_manyThisChange ? rate - RG_W(w, v, first + k)
                                                        : 0;
            square += link->kind != rg_manyPrismatic ? rate * rate : 0;
            changed += change * change;
        }
        square +=
            RG_FAST_CHANGE_FACTOR * RG_FAST_CHANGE_FACTOR * (changed < square ? changed : square);
        most = square > most ? square : most;
    }
    return m->dt * sqrt(most);
}

// free.2: weights of a spring and damper, k = dt^2 stiffness/m and d = dt damping/m.
RG_MANY_FN void rgManySpringWeights(double driftTime, double k, double d, double* along,
                                    double* ahead, double* share) {
    double y = RG_STIFFNESS_FACTOR * k / (1 + RG_STIFFNESS_FACTOR * d), z = d > 2 ? 1 - 2 / d : 0;
    double weight = driftTime == 0 || y > 1e8 ? 1 : y * y / (1 + y * y);
    *along = weight + 0.5 * (1 - weight) * z;
    *ahead = 0.25 * ((1 + weight) * (1 + weight) + (1 - weight) * z);
    *share = 0.5 * (1 + weight + (1 - weight) * z);
}
