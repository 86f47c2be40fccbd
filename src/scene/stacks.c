// Scenes of many loose bodies: walls, tower, dominoes, pile.
#include "scene/scene.h"

#include "base/base.h"
#include "rigor/inertia.h"

#include <math.h>

static const double cubeSize = 0.2; // [m]

static void rgAddCube(rgSceneBuilder* builder, int number, double mass, rgPose pose) {
    const double half = 0.5 * cubeSize;
    rgSceneBuilder_AddBody(builder, &(rgSceneBody){.name = "cube",
                                                   .number = number,
                                                   .kind = rg_shapeBox,
                                                   .size = {half, half, half},
                                                   .mass = mass,
                                                   .pose = pose});
}

// It waits beside the wall, where it is launched from.
static void rgAddBall(rgSceneBuilder* builder) {
    rgSceneBuilder_AddBody(builder, &(rgSceneBody){.name = "ball",
                                                   .kind = rg_shapeSphere,
                                                   .size = {0.2, 0, 0},
                                                   .mass = 1000,
                                                   .pose = rgAt(0, -1.5, 0.5)});
}

// Rows of cubes, each exactly on top of the one below, with a gap between neighbours. Row r has
// 10^r kg per cube and `less` cubes less than the row below.
static void rgAddRows(rgSceneBuilder* builder, int width, int less, double gap) {
    double mass = 1;
    int number = 0;
    for (int row = 0; row < 5; ++row) {
        int count = width - row * less;
        for (int i = 0; i < count; ++i) {
            rgPose pose =
                rgAt((cubeSize + gap) * (i - 0.5 * (count - 1)), 0, cubeSize * (row + 0.5));
            rgAddCube(builder, ++number, mass, pose);
        }
        mass *= 10;
    }
}

void rgBuildWall(rgSceneBuilder* builder) {
    rgSceneBuilder_AddFloor(builder);
    rgAddRows(builder, 5, 1, 0.01);
    rgAddBall(builder);
    rgSceneBuilder_AddKey(builder, NULL, 0);
}

void rgBuildStraightWall(rgSceneBuilder* builder) {
    rgSceneBuilder_AddFloor(builder);
    rgAddRows(builder, 3, 0, 0.02);
    rgAddBall(builder);
    rgSceneBuilder_AddKey(builder, NULL, 0);
}

void rgBuildTower(rgSceneBuilder* builder) {
    rgSceneBuilder_AddFloor(builder);
    for (int i = 0; i < builder->count; ++i) {
        rgAddCube(builder, i + 1, 1, rgAt(0, 0, cubeSize * (i + 0.5)));
    }
    rgSceneBuilder_AddKey(builder, NULL, 0);
}

void rgBuildMassRatio(rgSceneBuilder* builder) {
    rgSceneBuilder_AddFloor(builder);
    rgAddCube(builder, 1, 1, rgAt(0, 0, 0.5 * cubeSize));
    rgAddCube(builder, 2, 1e4, rgAt(0, 0, 1.5 * cubeSize));
    rgSceneBuilder_AddKey(builder, NULL, 0);
}

// The first one turns about its front edge when the scene starts.
void rgBuildDomino(rgSceneBuilder* builder) {
    const rgVec3 half = {0.01, 0.04, 0.08};
    const double spacing = 0.06, push = 4; // [m], [rad/s]
    rgSceneBuilder_AddFloor(builder);
    for (int i = 0; i < builder->count; ++i) {
        rgSceneBody body = {.name = "domino",
                            .number = i + 1,
                            .kind = rg_shapeBox,
                            .size = half,
                            .mass = 0.1,
                            .pose = rgAt(spacing * i, 0, half.z)};
        if (i == 0) {
            body.velocity.angular = rgVec(0, push, 0);
            body.velocity.linear = rgVec(push * half.z, 0, push * half.x);
        }
        rgSceneBuilder_AddBody(builder, &body);
    }
    rgSceneBuilder_AddKey(builder, NULL, 0);
}

// ---- pile ----

static const double pileSpacing = 0.16; // [m], more than twice the largest bounding radius
static const double pileDensity = 1000; // [kg/m^3]

static rgQuat rgRandomRotation(rgSceneBuilder* builder) {
    rgQuat q;
    double length = 0;
    do {
        q.w = rgSceneBuilder_Random(builder, -1, 1);
        q.x = rgSceneBuilder_Random(builder, -1, 1);
        q.y = rgSceneBuilder_Random(builder, -1, 1);
        q.z = rgSceneBuilder_Random(builder, -1, 1);
        length = q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z;
    } while (length > 1 || length < 1e-3);
    return rgQuatNormalize(q);
}

static void rgAddGrain(rgSceneBuilder* builder, int number, rgVec3 at) {
    static const struct {
        const char* name;
        rgShapeKind kind;
    } kinds[] = {{"box", rg_shapeBox}, {"ball", rg_shapeSphere}, {"rod", rg_shapeCapsule}};
    int which = RG_MIN((int)rgSceneBuilder_Random(builder, 0, 3), 2);
    rgSceneBody grain = {.name = kinds[which].name, .number = number, .kind = kinds[which].kind};
    grain.size.x = rgSceneBuilder_Random(builder, 0.02, 0.04);
    grain.size.y = rgSceneBuilder_Random(builder, 0.02, 0.04);
    grain.size.z = rgSceneBuilder_Random(builder, 0.02, 0.04);
    grain.mass = pileDensity * rgShapeVolume(grain.kind, grain.size);
    grain.pose.p = at;
    grain.pose.q = rgRandomRotation(builder);
    rgSceneBuilder_AddBody(builder, &grain);
}

// Four planes that look inwards.
static void rgAddPit(rgSceneBuilder* builder, double half) {
    static const char* const names[] = {"wall_east", "wall_north", "wall_west", "wall_south"};
    static const rgVec3 inward[] = {{-1, 0, 0}, {0, -1, 0}, {1, 0, 0}, {0, 1, 0}};
    rgSceneBuilder_AddFloor(builder);
    for (int i = 0; i < 4; ++i) {
        rgPose pose = {rgScale(-half, inward[i]), rgQuatBetween(rgVec(0, 0, 1), inward[i])};
        rgSceneBuilder_AddPlane(builder, names[i], pose);
    }
}

// Layers of a square grid, each body turned and moved at random within its cell. The grid is about
// as high as wide.
void rgBuildPile(rgSceneBuilder* builder) {
    int width = (int)ceil(cbrt((double)builder->count) - 1e-9);
    double low = -0.5 * pileSpacing * (width - 1);
    rgAddPit(builder, 0.5 * pileSpacing * width);
    for (int i = 0; i < builder->count && builder->result == rg_ok; ++i) {
        rgVec3 at = {low + pileSpacing * (i % width), low + pileSpacing * (i / width % width),
                     pileSpacing * (i / (width * width) + 0.5)};
        at.x += rgSceneBuilder_Random(builder, -0.005, 0.005);
        at.y += rgSceneBuilder_Random(builder, -0.005, 0.005);
        rgAddGrain(builder, i + 1, at);
    }
    rgSceneBuilder_AddKey(builder, NULL, 0);
}
