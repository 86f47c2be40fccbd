// A model as JSON: bodies, joints, shapes with their geometry. Arrays of geometry are base64 of
// little-endian single-precision or 32-bit numbers. docs/formats/recording.md.
#include "io/export.h"
#include "record/record.h"

#include <math.h>
#include <stdio.h>

typedef struct rgDescriber {
    const rgModel* model;
    rgModelInfo info;
    rgText text;
    uint64_t* meshHashes; // by mesh written
    int* meshOfShape;     // by shape, from 0; negative: none
    int meshCount;
} rgDescriber;

// ---- pieces of JSON ----

static void rgPutString(rgText* text, const char* value) {
    const char* from = value != NULL ? value : "";
    rgText_Add(text, "\"");
    for (const unsigned char* c = (const unsigned char*)from; *c != '\0'; ++c) {
        if (*c == '"' || *c == '\\') {
            rgText_Add(text, "\\%c", *c);
        } else if (*c < 0x20 || *c == '<') { // '<' could end a script in a page
            rgText_Add(text, "\\u%04x", *c);
        } else {
            rgText_Add(text, "%c", *c);
        }
    }
    rgText_Add(text, "\"");
}

static void rgPutName(rgText* text, const char* key, const char* name, const char* kind,
                      int number) {
    rgPartName made;
    snprintf(made.text, sizeof(made.text), "%s %d", kind, number);
    rgText_Add(text, "\"%s\":", key);
    rgPutString(text, name != NULL && name[0] != '\0' ? name : made.text);
}

static void rgPutNumbers(rgText* text, const char* key, const double* values, int count) {
    rgText_Add(text, ",\"%s\":[", key);
    for (int i = 0; i < count; ++i) {
        rgText_Add(text, "%s%.9g", i > 0 ? "," : "", isfinite(values[i]) ? values[i] : 0.0);
    }
    rgText_Add(text, "]");
}

static void rgPutVector(rgText* text, const char* key, rgVec3 v) {
    const double values[3] = {v.x, v.y, v.z};
    rgPutNumbers(text, key, values, 3);
}

static void rgPutPose(rgText* text, rgPose pose) {
    const double values[7] = {pose.p.x, pose.p.y, pose.p.z, pose.q.w, pose.q.x, pose.q.y, pose.q.z};
    rgPutNumbers(text, "pose", values, 7);
}

static void rgPutBase64(rgText* text, const char* key, const void* bytes, size_t count) {
    const unsigned char* from = bytes;
    char line[4 * 256 + 1];
    rgText_Add(text, ",\"%s\":\"", key);
    for (size_t i = 0; i < count; i += 3 * 256) {
        size_t length = rgEncodeBase64(from + i, RG_MIN(count - i, (size_t)(3 * 256)), line);
        line[length] = '\0';
        rgText_Add(text, "%s", line);
    }
    rgText_Add(text, "\"");
}

static void rgPutFloats(rgText* text, const char* key, const double* values, size_t count) {
    float* narrow = rgAllocate(&text->allocator, count, sizeof(float));
    if (narrow == NULL) {
        text->failed = true;
        return;
    }
    for (size_t i = 0; i < count; ++i) {
        narrow[i] = (float)values[i];
    }
    rgPutBase64(text, key, narrow, count * sizeof(float));
    rgRelease(&text->allocator, narrow);
}

// ---- parts ----

static void rgDescribeBodies(rgDescriber* d) {
    rgText* text = &d->text;
    rgText_Add(text, ",\n\"bodies\":[");
    for (int i = 1; i <= d->info.bodyCount; ++i) {
        const rgBodyDef* body = rgModel_Body(d->model, (rgBodyId){i});
        const rgSym3* s = &body->inertia.moment;
        const double moment[6] = {s->xx, s->yy, s->zz, s->xy, s->xz, s->yz};
        rgText_Add(text, "%s\n{", i > 1 ? "," : "");
        rgPutName(text, "name", body->name, "body", i);
        rgText_Add(text, ",\"parent\":%d", body->parent.index1);
        rgPutPose(text, body->pose);
        rgText_Add(text, ",\"mass\":%.9g", body->inertia.mass);
        rgPutVector(text, "com", body->inertia.center);
        rgPutNumbers(text, "inertia", moment, 6);
        bool moves = rgModel_BodyLink(d->model, (rgBodyId){i}).moving.index1 != 0;
        rgText_Add(text, ",\"moves\":%s%s}", moves ? "true" : "false",
                   body->kinematic ? ",\"kinematic\":true" : "");
    }
    rgText_Add(text, "]");
}

static void rgDescribeJoints(rgDescriber* d) {
    static const char* const kinds[] = {"fixed",     "revolute", "prismatic",
                                        "spherical", "free",     "planar"};
    rgText* text = &d->text;
    rgText_Add(text, ",\n\"joints\":[");
    for (int i = 1; i <= d->info.jointCount; ++i) {
        const rgJointDef* joint = rgModel_Joint(d->model, (rgJointId){i});
        rgJointRange range = rgModel_JointRange(d->model, (rgJointId){i});
        rgVec3 axis = rgNormalize(joint->axis);
        rgText_Add(text, "%s\n{", i > 1 ? "," : "");
        rgPutName(text, "name", joint->name, "joint", i);
        rgText_Add(text, ",\"body\":%d,\"kind\":\"%s\",\"q\":%d,\"nq\":%d,\"v\":%d,\"nv\":%d",
                   joint->body.index1, kinds[joint->kind], range.q, range.qCount, range.v,
                   range.vCount);
        rgPutVector(text, "anchor", joint->anchor);
        rgPutVector(text, "axis", axis);
        rgText_Add(text, ",\"ref\":%.9g", joint->reference);
        if (joint->kind == rg_jointPlanar) {
            rgVec3 t1, t2;
            rgTangentBasis(axis, &t1, &t2);
            rgPutVector(text, "t1", t1);
            rgPutVector(text, "t2", t2);
        }
        if (joint->hasLimits) {
            const double limits[2] = {joint->lower, joint->upper};
            rgPutNumbers(text, "limits", limits, 2);
        }
        rgText_Add(text, "}");
    }
    rgText_Add(text, "]");
}

static void rgDescribeMesh(rgDescriber* d, int shape, const rgMeshData* mesh) {
    rgText* text = &d->text;
    size_t vertexBytes = 3 * (size_t)mesh->vertexCount * sizeof(double);
    size_t triangleBytes = 3 * (size_t)mesh->triangleCount * sizeof(int);
    uint64_t hash = rgHashBytes(mesh->vertices, vertexBytes, 0);
    hash = rgHashBytes(mesh->triangles, triangleBytes, hash);
    for (int i = 0; i < d->meshCount; ++i) {
        if (d->meshHashes[i] == hash) {
            d->meshOfShape[shape] = i;
            return;
        }
    }
    rgText_Add(text, "%s\n{\"vertices\":%d,\"triangles\":%d", d->meshCount > 0 ? "," : "",
               mesh->vertexCount, mesh->triangleCount);
    rgPutFloats(text, "v", mesh->vertices, 3 * (size_t)mesh->vertexCount);
    rgPutBase64(text, "f", mesh->triangles, triangleBytes);
    rgText_Add(text, "}");
    d->meshHashes[d->meshCount] = hash;
    d->meshOfShape[shape] = d->meshCount++;
}

static void rgDescribeMeshes(rgDescriber* d) {
    rgText_Add(&d->text, ",\n\"meshes\":[");
    for (int i = 0; i < d->info.shapeCount; ++i) {
        const rgShapeDef* shape = rgModel_Shape(d->model, (rgShapeId){i + 1});
        d->meshOfShape[i] = -1;
        if (shape->mesh != NULL && (shape->kind == rg_shapeHull || shape->kind == rg_shapeMesh)) {
            rgDescribeMesh(d, i, shape->mesh);
        }
    }
    rgText_Add(&d->text, "]");
}

static void rgDescribeField(rgText* text, const rgHeightFieldData* field) {
    rgText_Add(text,
               ",\"field\":{\"columns\":%d,\"rows\":%d,\"sizeX\":%.9g,\"sizeY\":%.9g,"
               "\"depth\":%.9g",
               field->columnCount, field->rowCount, field->sizeX, field->sizeY, field->depth);
    rgPutFloats(text, "h", field->heights, (size_t)field->columnCount * (size_t)field->rowCount);
    rgText_Add(text, "}");
}

static void rgDescribeShapes(rgDescriber* d) {
    static const char* const kinds[] = {"none", "plane",     "sphere", "capsule", "cylinder",
                                        "box",  "ellipsoid", "hull",   "field",   "mesh"};
    rgText* text = &d->text;
    rgText_Add(text, ",\n\"shapes\":[");
    for (int i = 1; i <= d->info.shapeCount; ++i) {
        const rgShapeDef* shape = rgModel_Shape(d->model, (rgShapeId){i});
        const double color[4] = {(double)shape->color[0], (double)shape->color[1],
                                 (double)shape->color[2], (double)shape->color[3]};
        rgText_Add(text, "%s\n{", i > 1 ? "," : "");
        rgPutName(text, "name", shape->name, "shape", i);
        rgText_Add(text, ",\"body\":%d,\"kind\":\"%s\",\"visual\":%s", shape->body.index1,
                   kinds[shape->kind], shape->visualOnly ? "true" : "false");
        if (shape->hidden) {
            rgText_Add(text, ",\"hidden\":true");
        }
        rgPutPose(text, shape->pose);
        rgPutVector(text, "size", shape->size);
        rgPutNumbers(text, "color", color, 4);
        if (shape->rounding > 0) {
            rgText_Add(text, ",\"rounding\":%.9g", shape->rounding);
        }
        if (d->meshOfShape[i - 1] >= 0) {
            rgText_Add(text, ",\"mesh\":%d", d->meshOfShape[i - 1]);
        }
        if (shape->kind == rg_shapeHeightField && shape->heightField != NULL) {
            rgDescribeField(text, shape->heightField);
        }
        rgText_Add(text, "}");
    }
    rgText_Add(text, "]");
}

static void rgDescribeFrames(rgDescriber* d) {
    rgText* text = &d->text;
    int count = d->info.frameCount - d->info.bodyCount; // without those of the bodies
    rgText_Add(text, ",\n\"frames\":[");
    for (int i = 1; i <= count; ++i) {
        const rgFrameDef* frame = rgModel_Frame(d->model, (rgFrameId){i});
        rgText_Add(text, "%s\n{", i > 1 ? "," : "");
        rgPutName(text, "name", frame->name, "frame", i);
        rgText_Add(text, ",\"body\":%d", frame->body.index1);
        rgPutPose(text, frame->pose);
        if (frame->fieldOfView > 0) {
            rgText_Add(text, ",\"fov\":%.9g", frame->fieldOfView);
        }
        rgText_Add(text, "}");
    }
    rgText_Add(text, "]");
}

static void rgDescribeLists(rgDescriber* d) {
    rgText* text = &d->text;
    rgText_Add(text, ",\n\"actuators\":[");
    for (int i = 1; i <= d->info.actuatorCount; ++i) {
        rgText_Add(text, i > 1 ? ",{" : "{");
        const rgActuatorDef* actuator = rgModel_Actuator(d->model, (rgActuatorId){i});
        rgPutName(text, "name", actuator->name, "actuator", i);
        if (actuator->hasControlRange) {
            const double range[2] = {actuator->controlLower, actuator->controlUpper};
            rgPutNumbers(text, "range", range, 2);
        }
        rgText_Add(text, "}");
    }
    rgText_Add(text, "],\n\"sensors\":[");
    for (int i = 1, start = 0; i <= d->info.sensorCount; ++i) {
        int size = rgModel_SensorSize(d->model, (rgSensorId){i});
        rgText_Add(text, i > 1 ? ",{" : "{");
        rgPutName(text, "name", rgModel_Sensor(d->model, (rgSensorId){i})->name, "sensor", i);
        rgText_Add(text, ",\"start\":%d,\"size\":%d}", start, size);
        start += size;
    }
    rgText_Add(text, "],\n\"keys\":[");
    for (int i = 1; i <= d->info.keyCount; ++i) {
        const rgKeyDef* key = rgModel_Key(d->model, (rgKeyId){i});
        rgText_Add(text, i > 1 ? ",{" : "{");
        rgPutName(text, "name", key->name, "key", i);
        rgText_Add(text, "}");
    }
    rgText_Add(text, "]");
}

rgResult rgDescribeModel(const rgModel* model, const rgAllocator* allocator, char** json) {
    if (model == NULL || json == NULL) {
        return rg_errorArgument;
    }
    rgDescriber d = {.model = model,
                     .info = rgModel_Info(model),
                     .text = {.allocator = rgResolveAllocator(allocator)}};
    size_t shapes = (size_t)d.info.shapeCount;
    d.meshHashes = rgAllocate(allocator, shapes, sizeof(uint64_t));
    d.meshOfShape = rgAllocate(allocator, shapes, sizeof(int));
    if (d.meshHashes != NULL && d.meshOfShape != NULL) {
        rgText_Add(&d.text, "{");
        rgPutName(&d.text, "name", d.info.name, "model", 1);
        rgText_Add(&d.text, ",\"nq\":%d,\"nv\":%d,\"mass\":%.9g", d.info.qCount, d.info.vCount,
                   d.info.mass);
        if (d.info.options.hasGravity) {
            rgPutVector(&d.text, "gravity", d.info.options.gravity);
        }
        rgDescribeBodies(&d);
        rgDescribeJoints(&d);
        rgDescribeMeshes(&d);
        rgDescribeShapes(&d);
        rgDescribeFrames(&d);
        rgDescribeLists(&d);
        rgText_Add(&d.text, "}\n");
    } else {
        d.text.failed = true;
    }
    rgRelease(allocator, d.meshHashes);
    rgRelease(allocator, d.meshOfShape);
    if (d.text.failed) {
        rgRelease(allocator, d.text.bytes);
        return rg_errorMemory;
    }
    *json = d.text.bytes;
    return rg_ok;
}

rgResult rgDescribeDef(const rgModelDef* def, const rgAllocator* allocator, char** mjcf) {
    rgText text = {.allocator = rgResolveAllocator(allocator)};
    rgResult result = rgWriteMjcf(def, NULL, &text);
    *mjcf = text.bytes;
    return result;
}
