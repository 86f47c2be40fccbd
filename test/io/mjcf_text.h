// Small MJCF files as texts, which lie in the folder of the test's files.
#pragma once
#include "model/def.h"
#include "parsed.h"
#include "rigor/rigor.h"
#include "source_dir.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846

static inline rgParsed rgParseWith(const char* text, const rgLoadDef* load) {
    rgParsed f = rgParseText(rgParseMjcf, RIGOR_SOURCE_DIR "/test/io/mjcf/x.xml", text, load);
    rgExpectClean(&f);
    return f;
}

static inline rgParsed rgParse(const char* text) {
    return rgParseWith(text, NULL);
}

static inline void rgExpectVec(rgVec3 actual, double x, double y, double z) {
    EXPECT_NEAR(actual.x, x, 1e-14);
    EXPECT_NEAR(actual.y, y, 1e-14);
    EXPECT_NEAR(actual.z, z, 1e-14);
}

#define WORLD(text) "<mujoco><worldbody>" text "</worldbody></mujoco>"
#define BALL(name, pos)                                                                            \
    "<body name='" name "' pos='" pos "'><joint name='j" name "'/><geom name='g" name              \
    "' size='.1' friction='.4 .2 .1'/></body>"
