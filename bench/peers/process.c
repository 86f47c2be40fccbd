// Engines in a process of their own: requests and answers.
#include "peers/process.h"

#include "cli.h"
#include "peers/links.h"

#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { rg_processHead = 4, rg_processLink = 13 }; // numbers of an answer

typedef struct rgProcessWorld {
    const rgPeerScene* scene;
    rgPeerLinks links;
    pid_t child;
    FILE *to, *from;
    double* masses; // by link
    double* answer; // to the last question
    int pending;    // steps that were not sent yet
    bool asked;     // the answer is that of now
    bool lost;      // the process is gone
} rgProcessWorld;

// ---- packages of Python

#define RG_PYTHON_FOLDER RIGOR_SOURCE_DIR "/bench/.venv"

char* rgPeerPython(void) {
    char* path = rgCli_CopyText(RG_PYTHON_FOLDER "/bin/python3");
    if (access(path, X_OK) != 0) {
        free(path);
        path = NULL;
    }
    return path;
}

// Look for NAME-VERSION.dist-info in one folder of packages.
static bool rgFindVersion(const char* folder, const char* name, char* buffer, size_t size) {
    size_t length = strlen(name);
    DIR* packages = opendir(folder);
    bool found = false;
    for (struct dirent* entry; packages != NULL && !found && (entry = readdir(packages)) != NULL;) {
        const char* end = strstr(entry->d_name, ".dist-info");
        found = end != NULL && strncmp(entry->d_name, name, length) == 0 &&
                entry->d_name[length] == '-';
        if (found) {
            const char* version = entry->d_name + length + 1;
            snprintf(buffer, size, "%.*s", (int)(end - version), version);
        }
    }
    if (packages != NULL) {
        closedir(packages);
    }
    return found;
}

const char* rgPeerPackage(const char* name, char* buffer, size_t size) {
    DIR* lib = opendir(RG_PYTHON_FOLDER "/lib");
    snprintf(buffer, size, "not installed");
    for (struct dirent* entry; lib != NULL && (entry = readdir(lib)) != NULL;) {
        if (strncmp(entry->d_name, "python3", 7) == 0) {
            char* folder = rgCli_Format("%s/lib/%s/site-packages", RG_PYTHON_FOLDER, entry->d_name);
            rgFindVersion(folder, name, buffer, size);
            free(folder);
        }
    }
    if (lib != NULL) {
        closedir(lib);
    }
    return buffer;
}

// ---- the description

static void rgPutNumbers(FILE* file, const char* name, const double* values, int count) {
    fprintf(file, "\"%s\":[", name);
    for (int i = 0; i < count; ++i) {
        fprintf(file, "%s%.17g", i > 0 ? "," : "", values[i]);
    }
    fprintf(file, "]");
}

static void rgPutVector(FILE* file, const char* name, rgVec3 v) {
    rgPutNumbers(file, name, (double[]){v.x, v.y, v.z}, 3);
}

static void rgPutPose(FILE* file, const char* name, rgPose pose) {
    double numbers[7] = {pose.p.x, pose.p.y, pose.p.z, pose.q.w, pose.q.x, pose.q.y, pose.q.z};
    rgPutNumbers(file, name, numbers, 7);
}

static void rgPutJoint(FILE* file, const rgPeerScene* scene, const rgPeerLink* link, int index) {
    static const char* const kinds[] = {[rg_jointFree] = "free",
                                        [rg_jointRevolute] = "revolute",
                                        [rg_jointPrismatic] = "prismatic",
                                        [rg_jointSpherical] = "ball"};
    const rgJointDef* joint = rgModel_Joint(scene->model, (rgJointId){index + 1});
    rgJointRange range = rgModel_JointRange(scene->model, (rgJointId){index + 1});
    const double *q = scene->q + range.q, *v = scene->v + range.v;
    bool known =
        (size_t)joint->kind < sizeof(kinds) / sizeof(kinds[0]) && kinds[joint->kind] != NULL;
    fprintf(file, "{\"kind\":\"%s\",", known ? kinds[joint->kind] : "unknown");
    if (joint->kind == rg_jointFree) {
        rgPose body = scene->poses[link->body], at = rgPoseMultiply(body, link->centre);
        rgVec3 spin = rgRotate(body.q, rgVec(v[3], v[4], v[5]));
        rgVec3 arm = rgSub(at.p, body.p);
        rgPutPose(file, "pose", at);
        fprintf(file, ",");
        rgPutVector(file, "linear",
                    rgAdd(rgRotate(body.q, rgVec(v[0], v[1], v[2])), rgCross(spin, arm)));
        fprintf(file, ",");
        rgPutVector(file, "angular", spin);
    } else {
        rgPutVector(file, "anchor", rgPose_PointBack(link->centre, joint->anchor));
        fprintf(file, ",");
        if (joint->kind == rg_jointSpherical) {
            rgQuat back = rgQuatConjugate(link->centre.q);
            rgQuat turn = rgQuatMultiply(rgQuatMultiply(back, (rgQuat){q[0], q[1], q[2], q[3]}),
                                         link->centre.q);
            rgPutNumbers(file, "turn", (double[]){turn.w, turn.x, turn.y, turn.z}, 4);
            fprintf(file, ",");
            rgPutVector(file, "angular", rgRotateBack(link->centre.q, rgVec(v[0], v[1], v[2])));
        } else {
            rgPutVector(file, "axis", rgNormalize(rgRotateBack(link->centre.q, joint->axis)));
            fprintf(file, ",\"q\":%.17g,\"v\":%.17g", q[0] - joint->reference, v[0]);
        }
    }
    fprintf(file, "}");
}

static void rgPutLinks(FILE* file, const rgPeerScene* scene, const rgPeerLinks* links) {
    fprintf(file, "\"links\":[");
    for (int i = 0; i < links->count; ++i) {
        const rgPeerLink* link = &links->links[i];
        rgPose parent = link->parent >= 0 ? links->links[link->parent].centre : rgPoseIdentity();
        rgPose here = rgPoseMultiply(link->pose, link->centre);
        fprintf(file, "%s{\"parent\":%d,\"mass\":%.17g,", i > 0 ? ",\n" : "\n", link->parent,
                link->inertia.mass);
        rgPutVector(file, "moments", link->moments);
        fprintf(file, ",");
        rgPutPose(file, "pose", rgPoseMultiply(rgPoseInvert(parent), here)); // joints at reference
        fprintf(file, ",\"joints\":[");
        for (int k = 0; k < link->jointCount; ++k) {
            fprintf(file, "%s", k > 0 ? "," : "");
            rgPutJoint(file, scene, link, link->joints[k]);
        }
        fprintf(file, "]}");
    }
    fprintf(file, "]");
}

static bool rgPutShapes(FILE* file, const rgPeerScene* scene, const rgPeerLinks* links) {
    static const char* const kinds[] = {[rg_shapePlane] = "plane",
                                        [rg_shapeSphere] = "sphere",
                                        [rg_shapeCapsule] = "capsule",
                                        [rg_shapeCylinder] = "cylinder",
                                        [rg_shapeBox] = "box",
                                        [rg_shapeHull] = "hull",
                                        [rg_shapeEllipsoid] = "ellipsoid"};
    bool known = true;
    fprintf(file, "\"shapes\":[");
    for (int i = 0; i < scene->info.shapeCount && known; ++i) {
        const rgShapeDef* shape = rgModel_Shape(scene->model, (rgShapeId){i + 1});
        int link;
        rgPose pose = rgPeerLinks_ShapePose(links, scene, i, &link);
        known = shape->visualOnly || ((size_t)shape->kind < sizeof(kinds) / sizeof(kinds[0]) &&
                                      kinds[shape->kind] != NULL);
        fprintf(file, "%s{\"kind\":\"%s\",\"link\":%d,\"mu\":%.17g,", i > 0 ? ",\n" : "\n",
                shape->visualOnly || !known ? "none" : kinds[shape->kind], link,
                shape->material.mu);
        rgPutPose(file, "pose", pose);
        fprintf(file, ",");
        rgPutVector(file, "size", shape->size);
        if (known && !shape->visualOnly && shape->kind == rg_shapeHull) {
            fprintf(file, ",");
            rgPutNumbers(file, "vertices", shape->mesh->vertices, 3 * shape->mesh->vertexCount);
        }
        fprintf(file, "}");
    }
    fprintf(file, "],\n\"apart\":[");
    const char* comma = "";
    for (int i = 0; i < scene->info.shapeCount; ++i) {
        for (int j = 0; j < i; ++j) {
            if (!rgModel_ShapesMeet(scene->model, (rgShapeId){i + 1}, (rgShapeId){j + 1})) {
                fprintf(file, "%s[%d,%d]", comma, j, i);
                comma = ",";
            }
        }
    }
    fprintf(file, "]");
    return known;
}

static rgVec3 rgLoopPoint(const rgPeerScene* scene, const rgPeerLinks* links, int link,
                          rgBodyId body, rgPose at) {
    bool itself = links->links[link].body == body.index1 - 1;
    rgPose inBody = itself ? at : rgPoseMultiply(rgModel_BodyLink(scene->model, body).pose, at);
    return rgPose_PointBack(links->links[link].centre, inBody.p);
}

// False: one of a kind that the description has no word for.
static bool rgPutLoops(FILE* file, const rgPeerScene* scene, const rgPeerLinks* links) {
    const char* comma = "";
    fprintf(file, "\"loops\":[");
    for (int i = 0; i < scene->info.equalityCount; ++i) {
        const rgEqualityDef* loop = rgModel_Equality(scene->model, (rgEqualityId){i + 1});
        if (loop->disabled) {
            continue;
        }
        int a = loop->bodyA.index1 > 0 ? links->linkOfBody[loop->bodyA.index1 - 1] : -1;
        int b = loop->bodyB.index1 > 0 ? links->linkOfBody[loop->bodyB.index1 - 1] : -1;
        if (loop->kind != rg_equalityConnect || a < 0 || b < 0) {
            return false;
        }
        fprintf(file, "%s{\"a\":%d,\"b\":%d,", comma, a, b);
        rgPutVector(file, "at_a", rgLoopPoint(scene, links, a, loop->bodyA, loop->poseA));
        fprintf(file, ",");
        rgPutVector(file, "at_b", rgLoopPoint(scene, links, b, loop->bodyB, loop->poseB));
        fprintf(file, "}");
        comma = ",";
    }
    fprintf(file, "]");
    return true;
}

// NULL, or why there is no description.
static const char* rgDescribe(FILE* file, const rgPeerScene* scene, const rgPeerLinks* links) {
    fprintf(file, "{\"step\":%.17g,", scene->timeStep);
    rgPutVector(file, "gravity", scene->gravity);
    fprintf(file, ",\n");
    rgPutLinks(file, scene, links);
    fprintf(file, ",\n");
    bool shapes = rgPutShapes(file, scene, links);
    fprintf(file, ",\n");
    bool loops = rgPutLoops(file, scene, links);
    fprintf(file, "}\n");
    return !shapes  ? "it has no meshes and height fields here"
           : !loops ? "it has no such constraint here"
                    : NULL;
}

// ---- the process

static bool rgLaunch(rgProcessWorld* own, const char* const* command, const char* file,
                     const char* variant) {
    int to[2], from[2], count = 0;
    const char* arguments[8];
    for (; command[count] != NULL && count < 5; ++count) {
        arguments[count] = command[count];
    }
    arguments[count] = file;
    arguments[count + 1] = variant;
    arguments[count + 2] = NULL;
    bool good = pipe(to) == 0 && pipe(from) == 0;
    fflush(NULL);
    own->child = good ? fork() : -1;
    if (own->child == 0) {
        dup2(to[0], 0);
        dup2(from[1], 1);
        for (int i = 0; i < 2; ++i) {
            close(to[i]);
            close(from[i]);
        }
        void* words = arguments; // execvp does not change its arguments
        execvp(arguments[0], words);
        _exit(127);
    }
    if (own->child > 0) {
        close(to[0]);
        close(from[1]);
        fcntl(to[1], F_SETFD, FD_CLOEXEC); // an input ends only when nobody else holds it
        fcntl(from[0], F_SETFD, FD_CLOEXEC);
        own->to = fdopen(to[1], "w");
        own->from = fdopen(from[0], "r");
    }
    signal(SIGPIPE, SIG_IGN); // a process that is gone is seen when it does not answer
    return own->to != NULL && own->from != NULL;
}

void rgPeerProcess_Destroy(void* world) {
    rgProcessWorld* own = world;
    if (own->to != NULL) {
        fclose(own->to); // it ends at the end of its input
    }
    if (own->from != NULL) {
        fclose(own->from);
    }
    if (own->child > 0) {
        waitpid(own->child, NULL, 0);
    }
    rgPeerLinks_Free(&own->links);
    free(own->masses);
    free(own->answer);
    free(own);
}

static bool rgReadHead(rgProcessWorld* own, char* fault, size_t faultSize) {
    char line[512] = "";
    bool read = fgets(line, sizeof(line), own->from) != NULL;
    if (!read || strncmp(line, "ok", 2) != 0) {
        line[strcspn(line, "\n")] = '\0';
        snprintf(fault, faultSize, "%s",
                 strncmp(line, "fault ", 6) == 0 ? line + 6 : "its process did not start");
        return false;
    }
    int count = own->links.count;
    own->masses = rgCli_Allocate((size_t)count, sizeof(double));
    own->answer = rgCli_Allocate(rg_processHead + rg_processLink * (size_t)count, sizeof(double));
    for (int i = 0; i < count; ++i) {
        if (fgets(line, sizeof(line), own->from) == NULL ||
            sscanf(line, "%lf", &own->masses[i]) != 1) {
            snprintf(fault, faultSize, "its answer ends early");
            return false;
        }
    }
    return true;
}

void* rgPeerProcess_Create(const rgPeerScene* scene, const char* const* command,
                           const char* variant, char* fault, size_t faultSize) {
    char path[] = "/tmp/rigor-bench-XXXXXX";
    rgProcessWorld* own = rgCli_Allocate(1, sizeof(rgProcessWorld));
    own->scene = scene;
    const char* reason = NULL;
    if (!rgPeerLinks_Init(&own->links, scene) || !rgPeerScene_IsPlain(scene)) {
        reason = "it is given no limits, dampers or servos of joints";
    }
    int handle = reason == NULL ? mkstemp(path) : -1;
    FILE* file = handle >= 0 ? fdopen(handle, "w") : NULL;
    if (file != NULL) {
        reason = rgDescribe(file, scene, &own->links);
        fclose(file);
    } else if (reason == NULL) {
        reason = "no temporary file";
    }
    if (reason != NULL) {
        snprintf(fault, faultSize, "%s", reason);
    }
    bool good = reason == NULL && rgLaunch(own, command, path, variant) &&
                rgReadHead(own, fault, faultSize);
    if (file != NULL) {
        unlink(path);
    }
    if (!good) {
        rgPeerProcess_Destroy(own);
        return NULL;
    }
    rgPeerProcess_Reset(own);
    return own;
}

// ---- steps

static bool rgAsk(rgProcessWorld* own) {
    size_t count = rg_processHead + rg_processLink * (size_t)own->links.count;
    int32_t steps = own->pending;
    if (steps > 0) {
        own->lost = own->lost || fputc('s', own->to) == EOF ||
                    fwrite(&steps, sizeof(steps), 1, own->to) != 1;
        own->pending = 0;
        own->asked = false;
    }
    if (!own->asked) {
        own->lost = own->lost || fputc('q', own->to) == EOF || fflush(own->to) != 0 ||
                    fread(own->answer, sizeof(double), count, own->from) != count;
        own->asked = true;
    }
    return !own->lost;
}

void rgPeerProcess_Reset(void* world) {
    rgProcessWorld* own = world;
    own->pending = 0;
    own->asked = false;
    own->lost = own->lost || fputc('r', own->to) == EOF;
}

bool rgPeerProcess_Step(void* world) {
    rgProcessWorld* own = world;
    own->pending += 1;
    own->asked = false;
    return !own->lost;
}

double rgPeerProcess_Seconds(void* world) {
    rgProcessWorld* own = world;
    return rgAsk(own) && own->answer[0] == 0 ? own->answer[1] : NAN;
}

void rgPeerProcess_Look(void* world, rgPeerLook* look) {
    rgProcessWorld* own = world;
    bool good = rgAsk(own);
    *look = (rgPeerLook){.contactCount = good ? (int)own->answer[2] : 0,
                         .penetration = good ? own->answer[3] : NAN,
                         .residual = NAN,
                         .collision = NAN};
}

bool rgPeerProcess_Body(void* world, int body, rgPeerBody* state) {
    rgProcessWorld* own = world;
    int link = own->links.linkOfBody[body];
    rgPose at = rgPoseIdentity();
    rgSpatial velocity = {0};
    if (!rgAsk(own)) {
        return false;
    }
    if (link >= 0) {
        const double* p = own->answer + rg_processHead + rg_processLink * (size_t)link;
        at = (rgPose){rgVec(p[0], p[1], p[2]), {p[3], p[4], p[5], p[6]}};
        velocity.linear = rgVec(p[7], p[8], p[9]);
        velocity.angular = rgVec(p[10], p[11], p[12]);
    }
    rgPeerLinks_Read(&own->links, own->scene, body, at, velocity,
                     link >= 0 ? own->masses[link] : NAN, state);
    return true;
}
