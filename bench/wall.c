// The wall of cubes: masses, contacts and Jacobians.
#include "wall.h"

#include <stddef.h>

enum { rg_wallFloor = -1 };

typedef struct rgCube {
    double x, z;
    double mass;
} rgCube;

static const double cubeSize = 0.2;      // [m]
static const double cubeStep = 0.21;     // between neighbours [m]
static const double wallMu = 0.5;        //
static const double wallDrop = -9.81e-3; // velocity gained in one step [m/s]

static void rgPlaceCubes(rgCube* cubes) {
    int count = 0;
    double mass = 1;
    for (int row = 0; row < 5; ++row) {
        for (int i = 0; i < 5 - row; ++i) {
            cubes[count++] = (rgCube){
                .x = cubeStep * (i - 0.5 * (4 - row)), .z = cubeSize * (row + 0.5), .mass = mass};
        }
        mass *= 10;
    }
}

// Diagonal: a cube's rotational inertia is m s^2 / 6 about every axis.
static void rgWall_BuildMass(rgWall* wall, const rgCube* cubes) {
    for (int i = 0; i < rg_wallVelocities; ++i) {
        double mass = cubes[i / 6].mass;
        wall->massStart[i] = wall->massColumn[i] = i;
        wall->mass[i] = i % 6 < 3 ? mass : mass * cubeSize * cubeSize / 6;
    }
    wall->massStart[rg_wallVelocities] = rg_wallVelocities;
}

// Entries of one row for one cube: sign (axis, r x axis), all six also where they are zero.
static int rgWall_AddHalf(rgWall* wall, int at, int cube, double sign, const double* r, int axis) {
    double e[3] = {0};
    e[axis] = 1;
    const double row[6] = {e[0],
                           e[1],
                           e[2],
                           r[1] * e[2] - r[2] * e[1],
                           r[2] * e[0] - r[0] * e[2],
                           r[0] * e[1] - r[1] * e[0]};
    for (int k = 0; k < 6; ++k) {
        wall->jacobianColumn[at] = 6 * cube + k;
        wall->jacobian[at++] = sign * row[k];
    }
    return at;
}

// One contact with normal z, from `below` (a cube with a smaller number, or the floor) to `above`.
static void rgWall_AddContact(rgWall* wall, const rgCube* cubes, int below, int above,
                              const double* point) {
    int contact = wall->problem.blockCount++;
    int at = wall->jacobianStart[3 * contact];
    const double onAbove[3] = {point[0] - cubes[above].x, point[1], point[2] - cubes[above].z};
    for (int axis = 0; axis < 3; ++axis) {
        if (below != rg_wallFloor) {
            const double onBelow[3] = {point[0] - cubes[below].x, point[1],
                                       point[2] - cubes[below].z};
            at = rgWall_AddHalf(wall, at, below, -1, onBelow, axis);
        }
        at = rgWall_AddHalf(wall, at, above, 1, onAbove, axis);
        wall->jacobianStart[3 * contact + axis + 1] = at;
    }
    wall->blocks[contact] =
        (rgBlock){.kind = rg_blockCoulomb, .firstRow = 3 * contact, .rowCount = 3, .mu = wallMu};
    // Both cubes of a pair fall alike: only contacts with the floor close.
    wall->freeVelocity[3 * contact + 2] = below == rg_wallFloor ? wallDrop : 0;
}

// The corners of the rectangle low..high in x and the cube's depth in y.
static void rgWall_AddFace(rgWall* wall, const rgCube* cubes, int below, int above, double low,
                           double high) {
    double z = cubes[above].z - 0.5 * cubeSize;
    for (int corner = 0; corner < 4; ++corner) {
        const double point[3] = {corner & 1 ? high : low, (corner & 2 ? 0.5 : -0.5) * cubeSize, z};
        rgWall_AddContact(wall, cubes, below, above, point);
    }
}

void rgWall_Build(rgWall* wall) {
    *wall = (rgWall){0};
    rgCube cubes[rg_wallCubes];
    rgPlaceCubes(cubes);
    rgWall_BuildMass(wall, cubes);
    double half = 0.5 * cubeSize;
    int above = 0;
    for (; above < 5; ++above) {
        rgWall_AddFace(wall, cubes, rg_wallFloor, above, cubes[above].x - half,
                       cubes[above].x + half);
    }
    int below = 0;
    for (int width = 4; width > 0; --width) {
        for (int i = 0; i < width; ++i, ++above, ++below) {
            rgWall_AddFace(wall, cubes, below, above, cubes[above].x - half, cubes[below].x + half);
            rgWall_AddFace(wall, cubes, below + 1, above, cubes[below + 1].x - half,
                           cubes[above].x + half);
        }
        below += 1;
    }
    wall->problem.rowCount = rg_wallRows;
    wall->problem.blocks = wall->blocks;
    wall->problem.freeVelocity = wall->freeVelocity;
    wall->problem.delassus =
        (rgDelassus){.kind = rg_delassusVelocity,
                     .mass = {rg_wallVelocities, rg_wallVelocities, wall->massStart,
                              wall->massColumn, wall->mass},
                     .jacobian = {rg_wallRows, rg_wallVelocities, wall->jacobianStart,
                                  wall->jacobianColumn, wall->jacobian}};
}

// M is diagonal: entry (i, j) sums over the velocities that both rows touch.
void rgWall_Condense(const rgWall* wall, double* matrix) {
    for (int i = 0; i < rg_wallRows; ++i) {
        double scaled[rg_wallVelocities] = {0};
        for (int k = wall->jacobianStart[i]; k < wall->jacobianStart[i + 1]; ++k) {
            int column = wall->jacobianColumn[k];
            scaled[column] = wall->jacobian[k] / wall->mass[column];
        }
        for (int j = 0; j <= i; ++j) {
            double sum = 0;
            for (int k = wall->jacobianStart[j]; k < wall->jacobianStart[j + 1]; ++k) {
                sum += wall->jacobian[k] * scaled[wall->jacobianColumn[k]];
            }
            matrix[(size_t)i * rg_wallRows + (size_t)j] = sum;
            matrix[(size_t)j * rg_wallRows + (size_t)i] = sum;
        }
    }
}
