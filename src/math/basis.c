// Rotations without functions of angles, for host and devices: quaternion of a matrix, and the
// tangent basis of a contact.
#include "rigor/math.h"

#define RG_TANGENT_JUMP (-0.93)

rgQuat rgQuatFromMat3(const rgMat3* matrix) {
    if (matrix == NULL) {
        return rgQuatIdentity();
    }
    const double* m = matrix->m;
    double trace = m[0] + m[4] + m[8];
    rgQuat q;
    // Divide by the largest of the four components.
    if (trace >= m[0] && trace >= m[4] && trace >= m[8]) {
        q = (rgQuat){1 + trace, m[7] - m[5], m[2] - m[6], m[3] - m[1]};
    } else if (m[0] >= m[4] && m[0] >= m[8]) {
        q = (rgQuat){m[7] - m[5], 1 + 2 * m[0] - trace, m[1] + m[3], m[2] + m[6]};
    } else if (m[4] >= m[8]) {
        q = (rgQuat){m[2] - m[6], m[1] + m[3], 1 + 2 * m[4] - trace, m[5] + m[7]};
    } else {
        q = (rgQuat){m[3] - m[1], m[2] + m[6], m[5] + m[7], 1 + 2 * m[8] - trace};
    }
    return rgQuatNormalize(q);
}

void rgTangentBasis(rgVec3 n, rgVec3* t1, rgVec3* t2) {
    if (t1 == NULL || t2 == NULL) {
        return;
    }
    // No basis is continuous everywhere. The jump is put on a circle that no usual normal meets,
    // so that small motions about straight down keep the basis as well.
    if (n.z < RG_TANGENT_JUMP) {
        // The rotation that takes -z to n, applied to -y and -x.
        double a = 1 / (1 - n.z);
        double b = n.x * n.y * a;
        *t1 = rgVec(b, n.y * n.y * a - 1, -n.y);
        *t2 = rgVec(n.x * n.x * a - 1, b, -n.x);
        return;
    }
    // The rotation that takes z to n, applied to x and y.
    double a = 1 / (1 + n.z);
    double b = -n.x * n.y * a;
    *t1 = rgVec(1 - n.x * n.x * a, b, -n.x);
    *t2 = rgVec(b, 1 - n.y * n.y * a, -n.y);
}
