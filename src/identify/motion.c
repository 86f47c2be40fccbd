// Motions from files: columns become channels, and the first rows the state at the start.
#include "identify/motion.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define RG_COOKIE_MOTION 0x6d6f746eu

rgMotionDef rgDefaultMotionDef(void) {
    return (rgMotionDef){.cookie = RG_COOKIE_MOTION};
}

// ---- names of columns

static const char* const rgPoseParts[] = {"x", "y", "z", "qw", "qx", "qy", "qz"};
static const char* const rgTwistParts[] = {"vx", "vy", "vz", "wx", "wy", "wz"};
static const char* const rgPlanarParts[] = {"x", "y", "angle"};

static int rgFindText(const char* const* texts, int count, const char* text) {
    for (int i = 0; i < count; ++i) {
        if (strcmp(texts[i], text) == 0) {
            return i;
        }
    }
    return -1;
}

// "NAME.PART" cut at its last dot. False: it has none or is too long.
static bool rgCutPart(const char* text, char name[256], const char** part) {
    const char* dot = strrchr(text, '.');
    if (dot == NULL || (size_t)(dot - text) >= 256) {
        return false;
    }
    memcpy(name, text, (size_t)(dot - text));
    name[dot - text] = '\0';
    *part = dot + 1;
    return true;
}

static rgJointId rgFindJointOf(const rgModel* model, const char* name) {
    rgJointId id = rgModel_FindJoint(model, name);
    int number = 0;
    if (id.index1 == 0 && sscanf(name, "joint%d", &number) == 1 && number > 0 &&
        number <= rgModel_Info(model).jointCount &&
        rgModel_Joint(model, (rgJointId){number})->name == NULL) {
        id.index1 = number;
    }
    return id;
}

// "q:JOINT", "v:JOINT.wx" and so on, as rigor simulate --csv writes them.
static rgRole rgFindJointRole(const rgModel* model, const char* text, bool velocity) {
    char name[256];
    const char* part = NULL;
    rgJointId id = rgFindJointOf(model, text);
    const rgJointDef* joint = rgModel_Joint(model, id);
    rgJointRange range = rgModel_JointRange(model, id);
    if (joint != NULL && range.vCount == 1) {
        return (rgRole){velocity ? rg_roleV : rg_roleQ, velocity ? range.v : range.q, 0};
    }
    if (joint != NULL || !rgCutPart(text, name, &part)) {
        return (rgRole){0};
    }
    id = rgFindJointOf(model, name);
    joint = rgModel_Joint(model, id);
    if (joint == NULL) {
        return (rgRole){0};
    }
    range = rgModel_JointRange(model, id);
    if (joint->kind == rg_jointFree && !velocity) {
        int k = rgFindText(rgPoseParts, 7, part);
        return (rgRole){k >= 0 ? rg_rolePose : rg_roleNone, joint->body.index1, k};
    }
    bool planar = joint->kind == rg_jointPlanar;
    int skip = joint->kind == rg_jointSpherical ? 3 : 0;
    int k = planar ? rgFindText(rgPlanarParts, 3, part)
                   : rgFindText(rgTwistParts, 6, part) - (velocity ? skip : 9);
    if (k < 0) {
        return (rgRole){0};
    }
    return (rgRole){velocity ? rg_roleV : rg_roleQ, (velocity ? range.v : range.q) + k, 0};
}

static rgRole rgFindBodyRole(const rgModel* model, const char* text, bool velocity) {
    char name[256];
    const char* part = NULL;
    if (!rgCutPart(text, name, &part)) {
        return (rgRole){0};
    }
    int body = rgModel_FindBody(model, name).index1;
    int k = velocity ? rgFindText(rgTwistParts, 6, part) : rgFindText(rgPoseParts, 7, part);
    if (body == 0 || k < 0) {
        return (rgRole){0};
    }
    return (rgRole){velocity ? rg_roleTwist : rg_rolePose, body, k};
}

// The body with a free joint, if there is just one.
static int rgOnlyFreeBody(const rgModel* model) {
    int found = 0;
    for (int j = 1; j <= rgModel_Info(model).jointCount; ++j) {
        const rgJointDef* joint = rgModel_Joint(model, (rgJointId){j});
        if (joint->kind == rg_jointFree) {
            if (found != 0) {
                return 0;
            }
            found = joint->body.index1;
        }
    }
    return found;
}

// "px", "qw", "vx", "wx", "wx_body": of the only free body.
static rgRole rgFindFreeBodyRole(const rgModel* model, const char* name) {
    static const char* const poses[] = {"px", "py", "pz", "qw", "qx", "qy", "qz"};
    static const char* const rates[] = {"wx_body", "wy_body", "wz_body"};
    int body = rgOnlyFreeBody(model);
    int k = rgFindText(poses, 7, name);
    if (body == 0) {
        return (rgRole){0};
    }
    if (k >= 0 || (k = rgFindText(rgPoseParts, 3, name)) >= 0) {
        return (rgRole){rg_rolePose, body, k};
    }
    if ((k = rgFindText(rgTwistParts, 6, name)) >= 0) {
        return (rgRole){rg_roleTwist, body, k};
    }
    k = rgFindText(rates, 3, name);
    return k >= 0 ? (rgRole){rg_roleBodyRate, body, 3 + k} : (rgRole){0};
}

rgRole rgFindRole(const rgModel* model, const char* name) {
    if (strcmp(name, "time") == 0 || strcmp(name, "t") == 0) {
        return (rgRole){.kind = rg_roleTime};
    }
    if (strncmp(name, "q:", 2) == 0 || strncmp(name, "v:", 2) == 0) {
        return rgFindJointRole(model, name + 2, name[0] == 'v');
    }
    if (strncmp(name, "pose:", 5) == 0) {
        return rgFindBodyRole(model, name + 5, false);
    }
    if (strncmp(name, "twist:", 6) == 0) {
        return rgFindBodyRole(model, name + 6, true);
    }
    if (strncmp(name, "control:", 8) == 0) {
        int actuator = rgModel_FindActuator(model, name + 8).index1;
        return actuator != 0 ? (rgRole){rg_roleControl, actuator - 1, 0} : (rgRole){0};
    }
    return rgFindFreeBodyRole(model, name);
}

// ---- channels

static int rgFindColumn(const rgMotionTable* table, rgRole role) {
    for (int c = 0; c < table->columnCount; ++c) {
        const rgRole* r = &table->roles[c];
        if (r->kind == role.kind && r->index == role.index && r->part == role.part) {
            return c;
        }
    }
    return -1;
}

static double rgCell(const rgMotionTable* table, int row, int column) {
    return column >= 0 ? table->rows[(size_t)row * (size_t)table->columnCount + (size_t)column]
                       : NAN;
}

static void rgSay(rgMotionTable* table, const char* text) {
    rgDiagnostics_Add(table->diagnostics, rg_severityError, table->path, 0, "%s", text);
}

static int rgChannelSize(const rgChannel* channel) {
    return channel->kind == rg_channelPose ? 7 : 1;
}

// Bodies in the order of the model, then coordinates.
static rgResult rgFindChannels(const rgMotionTable* table, rgLoadedMotion* made) {
    rgModelInfo info = rgModel_Info(table->model);
    int most = info.bodyCount + info.qCount;
    made->channels = rgAllocate(&table->allocator, (size_t)most + 1, sizeof(rgChannel));
    if (made->channels == NULL) {
        return rg_errorMemory;
    }
    rgMotion* motion = &made->motion;
    for (int b = 1; b <= info.bodyCount; ++b) {
        bool seen = false;
        for (int k = 0; k < 7; ++k) {
            seen = seen || rgFindColumn(table, (rgRole){rg_rolePose, b, k}) >= 0;
        }
        if (seen) {
            made->channels[motion->channelCount++] = (rgChannel){rg_channelPose, {b}, 0};
        }
    }
    for (int k = 0; k < info.qCount; ++k) {
        if (rgFindColumn(table, (rgRole){rg_roleQ, k, 0}) >= 0) {
            made->channels[motion->channelCount++] = (rgChannel){rg_channelCoordinate, {0}, k};
        }
    }
    for (int i = 0; i < motion->channelCount; ++i) {
        motion->valueCount += rgChannelSize(&made->channels[i]);
    }
    return rg_ok;
}

static void rgFillSample(const rgMotionTable* table, rgLoadedMotion* made, int row) {
    double* out = made->values + (size_t)row * (size_t)made->motion.valueCount;
    for (int i = 0; i < made->motion.channelCount; ++i) {
        const rgChannel* channel = &made->channels[i];
        if (channel->kind == rg_channelCoordinate) {
            rgRole role = {rg_roleQ, channel->coordinate, 0};
            *out++ = rgCell(table, row, rgFindColumn(table, role));
            continue;
        }
        for (int k = 0; k < 7; ++k) {
            rgRole role = {rg_rolePose, channel->body.index1, k};
            out[k] = rgCell(table, row, rgFindColumn(table, role));
        }
        rgQuat q = {out[3], out[4], out[5], out[6]};
        double length = sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
        for (int k = 3; k < 7; ++k) {
            out[k] = length > 0 ? out[k] / length : NAN; // NAN where one is missing
        }
        out += 7;
    }
    int actuators = rgModel_Info(table->model).actuatorCount;
    for (int a = 0; made->controls != NULL && a < actuators; ++a) {
        int column = rgFindColumn(table, (rgRole){rg_roleControl, a, 0});
        double control = rgCell(table, row, column);
        made->controls[(size_t)row * (size_t)actuators + (size_t)a] =
            isfinite(control) ? control : 0;
    }
}

// ---- the start

// Derivative at t[0] of the parabola through three values, or of the line through two.
static double rgSlope(const double* t, const double* x, int count) {
    double h1 = t[1] - t[0];
    double d1 = (x[1] - x[0]) / h1;
    if (count < 3) {
        return d1;
    }
    double h2 = t[2] - t[0];
    double d2 = (x[2] - x[0]) / h2;
    return (d1 * h2 - d2 * h1) / (h2 - h1);
}

static rgPose rgPoseOfRow(const double* x) {
    return (rgPose){rgVec(x[0], x[1], x[2]), {x[3], x[4], x[5], x[6]}};
}

// Velocity of a body at the start: columns where there are, else from its first poses.
static rgSpatial rgStartTwist(const rgMotionTable* table, const rgLoadedMotion* made,
                              const double* first, int body) {
    const rgMotion* motion = &made->motion;
    int count = RG_MIN(motion->sampleCount, 3);
    rgPose start = rgPoseOfRow(first);
    double twist[6], axis[3][3] = {{0}}, turn[3][3] = {{0}};
    for (int i = 0; i < count; ++i) {
        rgPose pose = rgPoseOfRow(first + (size_t)i * (size_t)motion->valueCount);
        rgVec3 r = rgRotationVectorFromQuat(rgQuatMultiply(pose.q, rgQuatConjugate(start.q)));
        for (int k = 0; k < 3; ++k) {
            axis[k][i] = rgVec3_At(pose.p, k);
            turn[k][i] = rgVec3_At(r, k);
        }
    }
    for (int k = 0; k < 3; ++k) {
        twist[k] = rgSlope(motion->times, axis[k], count);
        twist[3 + k] = rgSlope(motion->times, turn[k], count);
    }
    double rate[3];
    bool inBody = true;
    for (int k = 0; k < 6; ++k) {
        double given = rgCell(table, 0, rgFindColumn(table, (rgRole){rg_roleTwist, body, k}));
        twist[k] = isfinite(given) ? given : twist[k];
    }
    for (int k = 0; k < 3; ++k) {
        rate[k] = rgCell(table, 0, rgFindColumn(table, (rgRole){rg_roleBodyRate, body, 3 + k}));
        inBody = inBody && isfinite(rate[k]);
    }
    rgSpatial velocity = {rgVec(twist[0], twist[1], twist[2]), rgVec(twist[3], twist[4], twist[5])};
    if (inBody) {
        velocity.angular = rgRotate(start.q, rgVec(rate[0], rate[1], rate[2]));
    }
    return velocity;
}

// Half an interval of gravity, where velocities are means over the interval before.
static rgVec3 rgCorrection(const rgMotionTable* table, const rgMotion* motion, int body) {
    bool given = rgFindColumn(table, (rgRole){rg_roleTwist, body, 2}) >= 0;
    rgModelOptions options = rgModel_Info(table->model).options;
    rgVec3 gravity = options.hasGravity ? options.gravity : rgVec(0, 0, -9.81);
    double half = 0.5 * (motion->times[1] - motion->times[0]);
    return rgScale(table->backward && given ? half : 0, gravity);
}

static rgResult rgPlaceBody(const rgMotionTable* table, const rgLoadedMotion* made, rgWorld* world,
                            rgBodyId body, const double* first) {
    for (int k = 0; k < 7; ++k) {
        if (!isfinite(first[k])) {
            return rg_errorFormat;
        }
    }
    rgSpatial velocity = rgStartTwist(table, made, first, body.index1);
    velocity.linear = rgAdd(velocity.linear, rgCorrection(table, &made->motion, body.index1));
    rgResult result = rgWorld_SetBodyPose(world, body, rgPoseOfRow(first));
    if (result == rg_ok) {
        result = rgWorld_SetBodyVelocity(world, body, velocity);
    }
    // Joints set the pose of a body that they hold; its pose is measured all the same.
    return result == rg_errorUnsupported ? rg_ok : result;
}

static void rgPlaceCoordinates(const rgMotionTable* table, rgLoadedMotion* made) {
    rgModelInfo info = rgModel_Info(table->model);
    const rgMotion* motion = &made->motion;
    int count = RG_MIN(motion->sampleCount, 3);
    for (int j = 1; j <= info.jointCount; ++j) {
        rgJointRange range = rgModel_JointRange(table->model, (rgJointId){j});
        for (int k = 0; k < range.qCount && range.qCount == range.vCount; ++k) {
            int column = rgFindColumn(table, (rgRole){rg_roleQ, range.q + k, 0});
            double x[3] = {NAN, NAN, NAN};
            for (int i = 0; i < count; ++i) {
                x[i] = rgCell(table, i, column);
            }
            made->q[range.q + k] = isfinite(x[0]) ? x[0] : made->q[range.q + k];
            double slope = rgSlope(motion->times, x, isfinite(x[2]) ? count : 2);
            made->v[range.v + k] = isfinite(slope) ? slope : 0;
        }
    }
    for (int k = 0; k < info.vCount; ++k) {
        double given = rgCell(table, 0, rgFindColumn(table, (rgRole){rg_roleV, k, 0}));
        made->v[k] = isfinite(given) ? given : made->v[k];
    }
}

static rgResult rgFindStart(rgMotionTable* table, rgLoadedMotion* made) {
    rgModelInfo info = rgModel_Info(table->model);
    made->q = rgAllocate(&table->allocator, (size_t)info.qCount + 1, sizeof(double));
    made->v = rgAllocate(&table->allocator, (size_t)info.vCount + 1, sizeof(double));
    rgWorld* world = NULL;
    rgWorldDef def = rgDefaultWorldDef();
    def.allocator = table->allocator;
    rgResult result = made->q != NULL && made->v != NULL ? rg_ok : rg_errorMemory;
    if (result == rg_ok) {
        result = rgCreateWorld(table->model, &def, table->diagnostics, &world);
    }
    const double* first = made->values;
    for (int i = 0; i < made->motion.channelCount && result == rg_ok; ++i) {
        const rgChannel* channel = &made->channels[i];
        if (channel->kind == rg_channelPose) {
            result = rgPlaceBody(table, made, world, channel->body, first);
        }
        first += rgChannelSize(channel);
    }
    if (result == rg_errorFormat) {
        rgSay(table, "the first row must have all of x y z qw qx qy qz of the bodies it measures");
    }
    if (result == rg_ok) {
        memcpy(made->q, rgWorld_Positions(world, NULL), (size_t)info.qCount * sizeof(double));
        memcpy(made->v, rgWorld_Velocities(world, NULL), (size_t)info.vCount * sizeof(double));
        rgPlaceCoordinates(table, made);
    }
    rgDestroyWorld(world);
    return result;
}

// ---- the whole motion

static rgResult rgCheckTimes(rgMotionTable* table, rgLoadedMotion* made) {
    int column = rgFindColumn(table, (rgRole){.kind = rg_roleTime});
    if (table->rowCount < 2 || column < 0) {
        rgSay(table, column < 0 ? "there is no column 'time'" : "a motion has at least two rows");
        return rg_errorFormat;
    }
    for (int i = 0; i < table->rowCount; ++i) {
        made->times[i] = rgCell(table, i, column);
        if (!isfinite(made->times[i]) || (i > 0 && made->times[i] <= made->times[i - 1])) {
            rgDiagnostics_Add(table->diagnostics, rg_severityError, table->path, 0,
                              "times must increase: row %d is at %g s after %g s", i + 1,
                              made->times[i], i > 0 ? made->times[i - 1] : NAN);
            return rg_errorFormat;
        }
    }
    return rg_ok;
}

static bool rgHasControls(const rgMotionTable* table) {
    for (int c = 0; c < table->columnCount; ++c) {
        if (table->roles[c].kind == rg_roleControl) {
            return true;
        }
    }
    return false;
}

static rgResult rgFillMotion(rgMotionTable* table, rgLoadedMotion* made) {
    rgMotion* motion = &made->motion;
    size_t rows = (size_t)table->rowCount;
    made->times = rgAllocate(&table->allocator, rows + 1, sizeof(double));
    rgResult result = made->times != NULL ? rgCheckTimes(table, made) : rg_errorMemory;
    if (result == rg_ok) {
        result = rgFindChannels(table, made);
    }
    if (result == rg_ok && motion->channelCount == 0) {
        rgSay(table, "it measures nothing of this model: columns are q:JOINT, pose:BODY.x and so "
                     "on, or px ... qz of the only free body");
        return rg_errorFormat;
    }
    if (result != rg_ok) {
        return result;
    }
    motion->sampleCount = table->rowCount;
    motion->times = made->times;
    size_t actuators = (size_t)rgModel_Info(table->model).actuatorCount;
    made->values = rgAllocate(&table->allocator, rows * (size_t)motion->valueCount, sizeof(double));
    if (rgHasControls(table)) {
        made->controls = rgAllocate(&table->allocator, rows * actuators, sizeof(double));
    }
    if (made->values == NULL || (rgHasControls(table) && made->controls == NULL)) {
        return rg_errorMemory;
    }
    for (int i = 0; i < table->rowCount; ++i) {
        rgFillSample(table, made, i);
    }
    result = rgFindStart(table, made);
    motion->channels = made->channels;
    motion->values = made->values;
    motion->controls = made->controls;
    motion->q = made->q;
    motion->v = made->v;
    return result;
}

static bool rgIsHdf5(const char* path) {
    static const unsigned char signature[4] = {0x89, 'H', 'D', 'F'};
    unsigned char bytes[4] = {0};
    FILE* file = fopen(path, "rb");
    bool same = file != NULL && fread(bytes, 1, sizeof(bytes), file) == sizeof(bytes) &&
                memcmp(bytes, signature, sizeof(bytes)) == 0;
    if (file != NULL) {
        fclose(file);
    }
    return same;
}

rgResult rgLoadMotion(const char* path, const rgModel* model, const rgMotionDef* def,
                      rgDiagnostics* diagnostics, rgMotion** motion) {
    rgMotionDef settings = def != NULL ? *def : rgDefaultMotionDef();
    if (path == NULL || model == NULL || motion == NULL || settings.cookie != RG_COOKIE_MOTION) {
        return rg_errorArgument;
    }
    rgMotionTable table = {.path = path,
                           .model = model,
                           .allocator = rgResolveAllocator(&settings.allocator),
                           .diagnostics = diagnostics,
                           .backward = settings.backwardVelocities};
    rgLoadedMotion* made = rgAllocate(&table.allocator, 1, sizeof(rgLoadedMotion));
    if (made == NULL) {
        return rg_errorMemory;
    }
    made->allocator = table.allocator;
    made->name = rgCopyString(&table.allocator, path);
    made->motion.name = made->name;
    rgResult result = made->name == NULL ? rg_errorMemory
                      : rgIsHdf5(path)   ? rgMotionTable_ReadRecording(&table)
                                         : rgMotionTable_ReadCsv(&table);
    if (result == rg_ok) {
        result = rgFillMotion(&table, made);
    }
    rgRelease(&table.allocator, table.roles);
    rgRelease(&table.allocator, table.rows);
    if (result != rg_ok) {
        rgDestroyMotion(&made->motion);
        return result;
    }
    *motion = &made->motion;
    return rg_ok;
}

void rgDestroyMotion(rgMotion* motion) {
    if (motion == NULL) {
        return;
    }
    rgLoadedMotion* made = (rgLoadedMotion*)(void*)motion;
    rgAllocator allocator = made->allocator;
    void* parts[] = {made->name, made->times, made->channels, made->values,
                     made->q,    made->v,     made->controls, made};
    for (int i = 0; i < RG_COUNT(parts); ++i) {
        rgRelease(&allocator, parts[i]);
    }
}
