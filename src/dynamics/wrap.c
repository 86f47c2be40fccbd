// Shortest path of a thread around a sphere or cylinder, or through it. It is found in a plane:
// that of the two ends and the centre of a sphere; across the axis of a cylinder, along which the
// path rises evenly. docs/theory/tendons.md.
#include "dynamics/wrap.h"

#include "rigor/math.h"

#include <math.h>

#define RG_TURN       (2 * 3.14159265358979323846)
#define RG_WRAP_STEPS 60

typedef struct rgPlane2 {
    double x, y;
} rgPlane2;

static double rgDot2(rgPlane2 a, rgPlane2 b) {
    return a.x * b.x + a.y * b.y;
}

static rgPlane2 rgOnCircle(double radius, double angle) {
    rgPlane2 point = {radius * cos(angle), radius * sin(angle)};
    return point;
}

// The point of the line between a and b that is nearest to the centre.
static rgPlane2 rgNearest2(rgPlane2 a, rgPlane2 b) {
    rgPlane2 along = {b.x - a.x, b.y - a.y};
    double square = rgDot2(along, along);
    double t = square > 0 ? fmin(fmax(-rgDot2(a, along) / square, 0), 1) : 0;
    return (rgPlane2){a.x + t * along.x, a.y + t * along.y};
}

// First and last point on the circle, and the length along it.
typedef struct rgArc2 {
    rgPlane2 from, to;
    double length; // negative: it does not touch
} rgArc2;

static const rgArc2 rgNoArc = {.length = -1};

// tendons.1: Around: angle at the centre, from a counter-clockwise to b. The tangents shorten it by
// acos(r/a) and acos(r/b); if the angle is smaller than their sum, they cross.
static rgArc2 rgWrapOutside(rgPlane2 a, rgPlane2 b, double radius, const rgPlane2* side) {
    double lengthA = hypot(a.x, a.y), lengthB = hypot(b.x, b.y);
    rgPlane2 near = rgNearest2(a, b);
    bool clear = rgDot2(near, near) > radius * radius;
    if (lengthA < radius || lengthB < radius || (clear && side == NULL) ||
        (clear && rgDot2(*side, near) >= 0)) {
        return rgNoArc;
    }
    double angleA = atan2(a.y, a.x), turn = atan2(b.y, b.x) - angleA;
    turn = turn < 0 ? turn + RG_TURN : turn;
    double leaveA = acos(radius / lengthA), leaveB = acos(radius / lengthB);
    double way = turn - leaveA - leaveB, back = RG_TURN - turn - leaveA - leaveB;
    bool forward = way <= back;
    if (side != NULL) { // the way whose middle is on that side
        rgPlane2 middle = rgOnCircle(1, angleA + leaveA + 0.5 * way);
        rgPlane2 other = rgOnCircle(1, angleA - leaveA - 0.5 * back);
        forward = rgDot2(*side, middle) >= rgDot2(*side, other);
        forward = way < 0 ? false : back < 0 ? true : forward;
    }
    double sign = forward ? 1 : -1, angle = forward ? way : back;
    if (angle < 0) {
        return rgNoArc;
    }
    double start = angleA + sign * leaveA;
    return (rgArc2){rgOnCircle(radius, start), rgOnCircle(radius, start + sign * angle),
                    radius * angle};
}

// tendons.2: Through: the point x of the circle with the least |a - x| + |x - b|, by Newton's
// method within brackets. Both distances are convex where both ends see the circle, and x is there.
static rgArc2 rgWrapInside(rgPlane2 a, rgPlane2 b, double radius) {
    double lengthA = hypot(a.x, a.y), lengthB = hypot(b.x, b.y);
    rgPlane2 near = rgNearest2(a, b);
    if (lengthA < radius || lengthB < radius || rgDot2(near, near) <= radius * radius) {
        return rgNoArc;
    }
    double angleA = atan2(a.y, a.x), turn = atan2(b.y, b.x) - angleA;
    turn -= RG_TURN * round(turn / RG_TURN);
    double sign = turn < 0 ? -1 : 1, whole = fabs(turn);
    double low = 0, high = whole, x = 0.5 * whole;
    for (int k = 0; k < RG_WRAP_STEPS && high - low > 1e-15; ++k) {
        double p = lengthA * radius, q = lengthB * radius;
        double dA = sqrt(lengthA * lengthA + radius * radius - 2 * p * cos(x));
        double dB = sqrt(lengthB * lengthB + radius * radius - 2 * q * cos(whole - x));
        double sA = p * sin(x) / dA, sB = q * sin(whole - x) / dB, slope = sA - sB;
        double bend = (p * cos(x) - sA * sA) / dA + (q * cos(whole - x) - sB * sB) / dB;
        *(slope > 0 ? &high : &low) = x;
        double next = bend > 0 ? x - slope / bend : low;
        x = next > low && next < high ? next : 0.5 * (low + high);
    }
    rgPlane2 at = rgOnCircle(radius, angleA + sign * x);
    return (rgArc2){at, at, 0};
}

// Two axes of the plane, in the shape's frame.
typedef struct rgAxes2 {
    rgVec3 x, y;
} rgAxes2;

static rgPlane2 rgInPlane(const rgAxes2* axes, rgVec3 p) {
    return (rgPlane2){rgDot(axes->x, p), rgDot(axes->y, p)};
}

static rgAxes2 rgWrapAxes(rgShapeKind kind, rgVec3 a, rgVec3 b) {
    if (kind == rg_shapeCylinder) {
        return (rgAxes2){{1, 0, 0}, {0, 1, 0}};
    }
    rgVec3 x = rgNormalize(a), y = rgSub(b, rgScale(rgDot(b, x), x)), other;
    if (rgLength(y) <= 1e-12 * rgLength(b)) { // any plane through the three
        rgTangentBasis(x, &y, &other);
    }
    y = rgNormalize(y); // once more: of ends nearly in line with the centre little is left
    return (rgAxes2){x, rgNormalize(rgSub(y, rgScale(rgDot(y, x), x)))};
}

rgWrap rgWrapAround(rgShapeKind kind, double radius, rgPose pose, rgVec3 from, rgVec3 to,
                    const rgVec3* side) {
    rgVec3 a = rgRotateBack(pose.q, rgSub(from, pose.p));
    rgVec3 b = rgRotateBack(pose.q, rgSub(to, pose.p));
    rgAxes2 axes = rgWrapAxes(kind, a, b);
    rgPlane2 start = rgInPlane(&axes, a), end = rgInPlane(&axes, b);
    rgVec3 local = side != NULL ? rgRotateBack(pose.q, rgSub(*side, pose.p)) : rgVec(0, 0, 0);
    rgPlane2 where = rgInPlane(&axes, local);
    bool inside = side != NULL && hypot(where.x, where.y) < radius;
    rgArc2 arc = inside ? rgWrapInside(start, end, radius)
                        : rgWrapOutside(start, end, radius, side != NULL ? &where : NULL);
    if (!(arc.length >= 0)) {
        return (rgWrap){.touches = false};
    }
    rgVec3 first = rgAdd(rgScale(arc.from.x, axes.x), rgScale(arc.from.y, axes.y));
    rgVec3 last = rgAdd(rgScale(arc.to.x, axes.x), rgScale(arc.to.y, axes.y));
    double length = arc.length;
    if (kind == rg_shapeCylinder) { // unrolled, it is straight
        double before = hypot(start.x - arc.from.x, start.y - arc.from.y);
        double after = hypot(end.x - arc.to.x, end.y - arc.to.y);
        double way = before + length + after, rise = way > 0 ? (b.z - a.z) / way : 0;
        first.z = a.z + rise * before;
        last.z = b.z - rise * after;
        length = hypot(length, rise * length);
    }
    return (rgWrap){.touches = true,
                    .from = rgPose_Point(pose, first),
                    .to = rgPose_Point(pose, last),
                    .length = length};
}
