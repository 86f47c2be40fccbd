// Models and recordings as one block of bytes: "RGV1", the length of a JSON header, the header,
// then arrays at multiples of 8. web/src/data.ts reads it.
#include "record/record.h"
#include "view/view.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { rg_contactNumbers = 11 };

// Columns of the frames kept.
typedef struct rgPack {
    rgBytes time, q, v, sensors, kinematic, energy, residual, iterations, flags, stages, contactEnd;
    rgBytes bodies, contacts, state;
    uint32_t contactCount;
    int frameCount;
} rgPack;

typedef struct rgPackedArray {
    const char* name;
    const char* type;
    const rgBytes* bytes;
    size_t size; // size of an entry
} rgPackedArray;

void* rgBytes_Add(rgBytes* bytes, const void* data, size_t count) {
    if (bytes->failed || bytes->size + count < bytes->size) {
        bytes->failed = true;
        return NULL;
    }
    if (bytes->size + count > bytes->capacity) {
        size_t capacity = RG_MAX(2 * bytes->capacity, bytes->size + count + 256);
        unsigned char* grown = rgAllocate(&bytes->allocator, capacity, 1);
        if (grown == NULL) {
            bytes->failed = true;
            return NULL;
        }
        if (bytes->size > 0) {
            memcpy(grown, bytes->data, bytes->size);
        }
        rgRelease(&bytes->allocator, bytes->data);
        bytes->data = grown;
        bytes->capacity = capacity;
    }
    unsigned char* place = bytes->data != NULL ? bytes->data + bytes->size : NULL;
    if (data != NULL && count > 0) {
        memcpy(place, data, count);
    } else if (count > 0) { // an empty block has no place
        memset(place, 0, count);
    }
    bytes->size += count;
    return place;
}

void rgBytes_Free(rgBytes* bytes) {
    rgRelease(&bytes->allocator, bytes->data);
    bytes->data = NULL;
    bytes->size = bytes->capacity = 0;
}

rgPageDef rgDefaultPageDef(void) {
    return (rgPageDef){.framesPerSecond = 60, .cookie = RG_COOKIE_PAGE};
}

static void rgAddText(rgBytes* out, const char* text) {
    rgBytes_Add(out, text, strlen(text));
}

// JSON that may also stand inside a script of a page.
static void rgAddString(rgBytes* out, const char* text) {
    rgAddText(out, "\"");
    for (const unsigned char* c = (const unsigned char*)text; *c != '\0'; ++c) {
        char escaped[8];
        if (*c < 0x20 || *c == '"' || *c == '\\' || *c == '<') {
            snprintf(escaped, sizeof(escaped), "\\u%04x", *c);
            rgAddText(out, escaped);
        } else {
            rgBytes_Add(out, c, 1);
        }
    }
    rgAddText(out, "\"");
}

static size_t rgPadded(size_t size) {
    return (size + 7) / 8 * 8;
}

// ---- frames ----

static void rgAddFloats(rgBytes* out, const double* values, int count) {
    float* place = rgBytes_Add(out, NULL, (size_t)count * sizeof(float));
    for (int i = 0; place != NULL && i < count; ++i) {
        place[i] = (float)values[i];
    }
}

static void rgAddContacts(rgPack* pack, const rgRecordedFrame* frame) {
    for (int i = 0; i < frame->contactCount; ++i) {
        const rgRecordedContact* c = &frame->contacts[i];
        const double numbers[rg_contactNumbers] = {
            c->point.x, c->point.y, c->point.z, c->normal.x, c->normal.y, c->normal.z,
            c->force.x, c->force.y, c->force.z, c->gap,      c->mu};
        const int32_t bodies[2] = {c->bodyA.index1, c->bodyB.index1};
        const uint8_t state = (uint8_t)c->state;
        rgAddFloats(&pack->contacts, numbers, rg_contactNumbers);
        rgBytes_Add(&pack->bodies, bodies, sizeof(bodies));
        rgBytes_Add(&pack->state, &state, 1);
    }
    pack->contactCount += (uint32_t)frame->contactCount;
    rgBytes_Add(&pack->contactEnd, &pack->contactCount, sizeof(uint32_t));
}

// The worst of the frames since the last one kept: none that was not solved is lost.
typedef struct rgWorst {
    double residual;
    int iterations;
    uint8_t flags;
} rgWorst;

static void rgWorst_Add(rgWorst* worst, const rgRecordedFrame* frame) {
    bool solved = frame->status == rg_contactSolved;
    worst->residual = fmax(worst->residual, frame->residual);
    worst->iterations = RG_MAX(worst->iterations, frame->iterationCount);
    worst->flags |= (uint8_t)((solved ? 0 : 1) | (frame->regularizedRows > 0 ? 2 : 0));
}

static void rgPack_Add(rgPack* pack, const rgRecordingInfo* info, const rgRecordedFrame* frame,
                       const rgWorst* worst) {
    const double energy[2] = {frame->kineticEnergy, frame->potentialEnergy};
    const int32_t iterations = worst->iterations;
    rgBytes_Add(&pack->time, &frame->time, sizeof(double));
    rgAddFloats(&pack->q, frame->q, info->qCount);
    rgAddFloats(&pack->v, frame->v, info->vCount);
    rgAddFloats(&pack->sensors, frame->sensors, info->sensorCount);
    rgAddFloats(&pack->kinematic, (const double*)frame->kinematic,
                RG_POSE_NUMBERS * info->kinematicCount);
    rgBytes_Add(&pack->energy, energy, sizeof(energy));
    rgAddFloats(&pack->residual, &worst->residual, 1);
    rgBytes_Add(&pack->iterations, &iterations, sizeof(iterations));
    rgBytes_Add(&pack->flags, &worst->flags, 1);
    rgAddFloats(&pack->stages, frame->stageSeconds, rg_stageCount);
    rgAddContacts(pack, frame);
    pack->frameCount += 1;
}

static rgResult rgPack_Fill(rgPack* pack, rgRecording* recording, double framesPerSecond) {
    rgRecordingInfo info = rgRecording_Info(recording);
    double step = framesPerSecond > 0 ? 1 / framesPerSecond : 0;
    double next = -INFINITY;
    rgWorst worst = {0};
    rgResult result = rg_ok;
    for (int64_t i = 0; result == rg_ok && i < info.frameCount; ++i) {
        rgRecordedFrame frame;
        result = rgRecording_Frame(recording, i, &frame);
        if (result != rg_ok) {
            break;
        }
        rgWorst_Add(&worst, &frame);
        if (frame.time >= next - 1e-9 || i == info.frameCount - 1) {
            rgPack_Add(pack, &info, &frame, &worst);
            next = i == 0 ? frame.time + step : fmax(next + step, frame.time);
            worst = (rgWorst){0};
        }
    }
    return result;
}

// ---- the block ----

static void rgAddHeader(rgBytes* out, const char* title, double timeStep, bool live, bool ghost,
                        const char* scene) {
    char text[160];
    rgAddText(out, "{\"title\":");
    rgAddString(out, title);
    rgPrint(text, sizeof(text),
            ",\"live\":%s,\"ghost\":%s,\"timeStep\":%.17g,\"scene\":", live ? "true" : "false",
            ghost ? "true" : "false", timeStep);
    rgAddText(out, text);
    rgAddText(out, scene);
}

static void rgFinishHeader(rgBytes* out) {
    uint32_t length = (uint32_t)(out->size - 8);
    rgBytes_Add(out, NULL, rgPadded(out->size) - out->size);
    if (!out->failed) {
        memcpy(out->data, "RGV1", 4);
        memcpy(out->data + 4, &length, 4);
    }
}

static void rgAddArrays(rgBytes* out, const rgPackedArray* arrays, int count, int frameCount) {
    char text[160];
    size_t offset = 0;
    snprintf(text, sizeof(text), ",\"frames\":%d,\"arrays\":{", frameCount);
    rgAddText(out, text);
    for (int i = 0; i < count; ++i) {
        snprintf(text, sizeof(text), "%s\"%s\":[\"%s\",%zu,%zu]", i > 0 ? "," : "", arrays[i].name,
                 arrays[i].type, offset, arrays[i].bytes->size / arrays[i].size);
        rgAddText(out, text);
        offset += rgPadded(arrays[i].bytes->size);
    }
    rgAddText(out, "}}");
    rgFinishHeader(out);
    for (int i = 0; i < count; ++i) {
        size_t size = arrays[i].bytes->size;
        rgBytes_Add(out, arrays[i].bytes->data, size);
        rgBytes_Add(out, NULL, rgPadded(size) - size);
        out->failed = out->failed || arrays[i].bytes->failed;
    }
}

rgResult rgPackRecording(rgRecording* recording, const rgPageDef* def, rgBytes* out) {
    rgPack pack = {0};
    const rgPackedArray arrays[] = {
        {"time", "f64", &pack.time, 8},
        {"energy", "f64", &pack.energy, 8},
        {"q", "f32", &pack.q, 4},
        {"v", "f32", &pack.v, 4},
        {"sensors", "f32", &pack.sensors, 4},
        {"kinematic", "f32", &pack.kinematic, 4},
        {"residual", "f32", &pack.residual, 4},
        {"iterations", "i32", &pack.iterations, 4},
        {"flags", "u8", &pack.flags, 1},
        {"stages", "f32", &pack.stages, 4},
        {"contactEnd", "u32", &pack.contactEnd, 4},
        {"bodies", "i32", &pack.bodies, 4},
        {"contacts", "f32", &pack.contacts, 4},
        {"state", "u8", &pack.state, 1},
    };
    rgRecordingInfo info = rgRecording_Info(recording);
    rgResult result = rgPack_Fill(&pack, recording, def->framesPerSecond);
    if (result == rg_ok) {
        rgBytes_Add(out, NULL, 8);
        rgAddHeader(out, info.title, info.timeStep, false, def->ghost != NULL, info.scene);
        rgAddArrays(out, arrays, RG_COUNT(arrays), pack.frameCount);
        result = out->failed ? rg_errorMemory : rg_ok;
    }
    rgBytes* owned[] = {&pack.time,   &pack.q,          &pack.v,          &pack.sensors,
                        &pack.energy, &pack.residual,   &pack.iterations, &pack.flags,
                        &pack.stages, &pack.contactEnd, &pack.bodies,     &pack.contacts,
                        &pack.state,  &pack.kinematic};
    for (int i = 0; i < RG_COUNT(owned); ++i) {
        rgBytes_Free(owned[i]);
    }
    return result;
}

static rgResult rgPackCompressed(rgRecording* recording, const rgPageDef* def, rgBytes* out) {
    rgBytes packed = {.allocator = out->allocator};
    rgResult result = rgPackRecording(recording, def, &packed);
    result = result == rg_ok ? rgCompress(packed.data, packed.size, out) : result;
    rgBytes_Free(&packed);
    return result;
}

rgResult rgPackPage(rgRecording* recording, const rgPageDef* def, rgBytes* data, rgBytes* ghost) {
    rgResult result = rgPackCompressed(recording, def, data);
    if (result == rg_ok && def->ghost != NULL) {
        rgPageDef alone = *def;
        alone.ghost = NULL;
        result = rgPackCompressed(def->ghost, &alone, ghost);
    }
    return result;
}

rgResult rgPackModel(const rgModel* model, const char* title, double timeStep, rgBytes* out) {
    char* scene = NULL;
    rgResult result = rgDescribeModel(model, &out->allocator, &scene);
    if (result == rg_ok) {
        rgBytes_Add(out, NULL, 8);
        rgAddHeader(out, title != NULL ? title : rgModel_Info(model).name, timeStep, true, false,
                    scene);
        rgAddArrays(out, NULL, 0, 0);
        result = out->failed ? rg_errorMemory : rg_ok;
    }
    rgRelease(&out->allocator, scene);
    return result;
}
