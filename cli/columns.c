// Columns of a simulation's CSV file: --columns.
#include "columns.h"
#include "trajectory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char* const words[] = {"q",      "v",    "tau",   "contact", "force",
                                    "sensor", "pose", "twist", "energy"};
enum { rg_wordCount = sizeof(words) / sizeof(words[0]) };

static bool rgNeedsName(rgColumnKind kind) {
    return kind == rg_columnForce || kind == rg_columnPose || kind == rg_columnTwist;
}

bool rgColumns_WantTorques(const char* text) {
    char* copy = rgCli_CopyText(text != NULL ? text : "");
    bool found = false;
    for (char* word = strtok(copy, ", "); word != NULL; word = strtok(NULL, ", ")) {
        found = found || strcmp(word, "tau") == 0;
    }
    free(copy);
    return found;
}

// ---- reading the list ----

static const char* rgBodyNameAt(const rgModel* model, int id) {
    return rgModel_Body(model, (rgBodyId){id})->name;
}
static const char* rgFrameNameAt(const rgModel* model, int id) {
    return rgModel_Frame(model, (rgFrameId){id})->name;
}
static const char* rgSensorNameAt(const rgModel* model, int id) {
    return rgModel_Sensor(model, (rgSensorId){id})->name;
}

// Id of a part by name; 0 after a message.
static int rgFindNamed(const rgModel* model, const char* kind, const char* name, int count,
                       const char* nameAt(const rgModel* model, int id)) {
    const char** names = rgCli_Allocate((size_t)count, sizeof(char*));
    int found = 0;
    for (int i = 0; i < count; ++i) {
        names[i] = nameAt(model, i + 1);
        bool same = names[i] != NULL && strcmp(names[i], name) == 0;
        found = found == 0 && same ? i + 1 : found;
    }
    if (found == 0) {
        rgCli_UnknownName(name, names, count, "--columns: the model has no %s '%s'", kind, name);
    }
    free((void*)names);
    return found;
}

static bool rgReadColumn(rgColumn* column, char* word, const rgModel* model) {
    char* colon = strchr(word, ':');
    char* name = colon != NULL ? colon + 1 : NULL;
    rgModelInfo info = rgModel_Info(model);
    if (colon != NULL) {
        *colon = '\0';
    }
    int kind = 0;
    while (kind < rg_wordCount && strcmp(words[kind], word) != 0) {
        ++kind;
    }
    if (kind == rg_wordCount) {
        rgCli_UnknownName(word, words, rg_wordCount,
                          "--columns: unknown quantity '%s' (force:BODY, sensor:NAME, "
                          "pose:FRAME and twist:BODY take a name)",
                          word);
        return false;
    }
    *column = (rgColumn){.kind = (rgColumnKind)kind};
    if (rgNeedsName(column->kind) && name == NULL) {
        rgCli_Error("--columns: %s needs a name, as in %s:NAME", word, word);
        return false;
    }
    if (name == NULL) {
        return true;
    }
    switch (column->kind) {
    case rg_columnForce:
    case rg_columnTwist:
        column->id = rgFindNamed(model, "body", name, info.bodyCount, rgBodyNameAt);
        return column->id != 0;
    case rg_columnPose:
        column->id = rgFindNamed(model, "body or frame", name, info.frameCount, rgFrameNameAt);
        return column->id != 0;
    case rg_columnSensor:
        column->id = rgFindNamed(model, "sensor", name, info.sensorCount, rgSensorNameAt);
        return column->id != 0;
    default:
        rgCli_Error("--columns: %s takes no name", word);
        return false;
    }
}

bool rgColumns_Read(rgColumns* columns, const char* text, const rgModel* model) {
    char* copy = rgCli_CopyText(text != NULL ? text : "q,v");
    bool good = true;
    *columns = (rgColumns){0};
    // Not strtok: names may hold blanks.
    for (char *word = copy, *next = NULL; good && word != NULL; word = next) {
        char* comma = strchr(word, ',');
        next = comma != NULL ? comma + 1 : NULL;
        if (comma != NULL) {
            *comma = '\0';
        }
        columns->items = rgCli_Grow(columns->items, (size_t)columns->count + 1, sizeof(rgColumn));
        good = rgReadColumn(&columns->items[columns->count++], word, model);
    }
    free(copy);
    return good;
}

void rgColumns_Free(rgColumns* columns) {
    free(columns->items);
    *columns = (rgColumns){0};
}

// ---- names ----

static void rgWriteParts(FILE* file, const char* prefix, const char* name, const char* const* parts,
                         int count) {
    for (int i = 0; i < count; ++i) {
        fprintf(file, ",%s%s%s.%s", prefix, name[0] != '\0' ? ":" : "", name, parts[i]);
    }
}

static int rgSensorSize(const rgSimulation* simulation, int id) {
    int total = 0;
    rgWorld_Sensors(simulation->world, &total);
    int start = rgWorld_SensorStart(simulation->world, (rgSensorId){id});
    int next = id < simulation->info.sensorCount
                   ? rgWorld_SensorStart(simulation->world, (rgSensorId){id + 1})
                   : total;
    return next - start;
}

static void rgWriteSensorNames(FILE* file, const rgSimulation* simulation, int id) {
    const rgSensorDef* sensor = rgModel_Sensor(simulation->loaded.model, (rgSensorId){id});
    int size = rgSensorSize(simulation, id);
    for (int k = 0; k < size; ++k) {
        fputs(",sensor:", file);
        if (sensor->name != NULL && sensor->name[0] != '\0') {
            fputs(sensor->name, file);
        } else {
            fprintf(file, "%d", id);
        }
        if (size > 1) {
            fprintf(file, ".%d", k);
        }
    }
}

// Sensors of the model, or those that were added for torques.
static void rgWriteTorqueNames(FILE* file, const rgSimulation* simulation) {
    const rgModel* model = simulation->loaded.model;
    for (int i = simulation->ownSensors + 1; i <= simulation->info.sensorCount; ++i) {
        rgJointId joint = rgModel_Sensor(model, (rgSensorId){i})->joint;
        const char* name = rgModel_Joint(model, joint)->name;
        if (name != NULL && name[0] != '\0') {
            fprintf(file, ",tau:%s", name);
        } else {
            fprintf(file, ",tau:joint%d", joint.index1);
        }
    }
}

void rgColumns_WriteNames(const rgColumns* columns, FILE* file, const rgSimulation* simulation) {
    static const char* const axes[] = {"x", "y", "z", "qw", "qx", "qy", "qz"};
    static const char* const twist[] = {"vx", "vy", "vz", "wx", "wy", "wz"};
    static const char* const contact[] = {"count", "gap", "normal"};
    static const char* const energy[] = {"kinetic", "potential"};
    const rgModel* model = simulation->loaded.model;
    fputs("time", file);
    for (int i = 0; i < columns->count; ++i) {
        rgColumn c = columns->items[i];
        switch (c.kind) {
        case rg_columnPosition:
        case rg_columnVelocity:
            rgCsv_WriteCoordinateNames(file, model, c.kind == rg_columnVelocity);
            break;
        case rg_columnTorque:
            rgWriteTorqueNames(file, simulation);
            break;
        case rg_columnContact:
            rgWriteParts(file, "contact", "", contact, 3);
            break;
        case rg_columnForce:
            rgWriteParts(file, "force", rgBodyNameAt(model, c.id), axes, 3);
            break;
        case rg_columnPose:
            rgWriteParts(file, "pose", rgFrameNameAt(model, c.id), axes, 7);
            break;
        case rg_columnTwist:
            rgWriteParts(file, "twist", rgBodyNameAt(model, c.id), twist, 6);
            break;
        case rg_columnEnergy:
            rgWriteParts(file, "energy", "", energy, 2);
            break;
        case rg_columnSensor:
            for (int s = 1; s <= simulation->ownSensors; ++s) {
                if (c.id == 0 || c.id == s) {
                    rgWriteSensorNames(file, simulation, s);
                }
            }
            break;
        }
    }
    fputc('\n', file);
}

// ---- numbers ----

static void rgWriteNumbers(FILE* file, const double* numbers, int count) {
    for (int i = 0; i < count; ++i) {
        fprintf(file, ",%.17g", numbers[i]);
    }
}

static void rgWriteContacts(FILE* file, const rgWorld* world) {
    int count = 0;
    const rgContact* contacts = rgWorld_Contacts(world, &count);
    double gap = count > 0 ? contacts[0].gap : 0, normal = 0;
    for (int i = 0; i < count; ++i) {
        gap = fmin(gap, contacts[i].gap);
        normal += rgDot(contacts[i].force, contacts[i].normal);
    }
    double numbers[3] = {count, gap, normal};
    rgWriteNumbers(file, numbers, 3);
}

static void rgWriteSensors(FILE* file, const rgSimulation* simulation, int first, int last) {
    const double* values = rgWorld_Sensors(simulation->world, NULL);
    for (int s = first; s <= last; ++s) {
        rgWriteNumbers(file, values + rgWorld_SensorStart(simulation->world, (rgSensorId){s}),
                       rgSensorSize(simulation, s));
    }
}

static void rgWriteColumn(const rgColumn* c, FILE* file, const rgSimulation* simulation) {
    const rgWorld* world = simulation->world;
    int count = 0;
    switch (c->kind) {
    case rg_columnPosition: {
        const double* q = rgWorld_Positions(world, &count);
        rgWriteNumbers(file, q, count);
        break;
    }
    case rg_columnVelocity: {
        const double* v = rgWorld_Velocities(world, &count);
        rgWriteNumbers(file, v, count);
        break;
    }
    case rg_columnTorque:
        rgWriteSensors(file, simulation, simulation->ownSensors + 1, simulation->info.sensorCount);
        break;
    case rg_columnSensor:
        rgWriteSensors(file, simulation, c->id > 0 ? c->id : 1,
                       c->id > 0 ? c->id : simulation->ownSensors);
        break;
    case rg_columnContact:
        rgWriteContacts(file, world);
        break;
    case rg_columnForce: {
        rgVec3 force = rgWorld_ContactForce(world, (rgBodyId){c->id});
        rgWriteNumbers(file, &force.x, 3);
        break;
    }
    case rg_columnPose: {
        rgPose pose = rgWorld_FramePose(world, (rgFrameId){c->id});
        double numbers[7] = {pose.p.x, pose.p.y, pose.p.z, pose.q.w, pose.q.x, pose.q.y, pose.q.z};
        rgWriteNumbers(file, numbers, 7);
        break;
    }
    case rg_columnTwist: {
        rgSpatial t = rgWorld_BodyVelocity(world, (rgBodyId){c->id});
        double numbers[6] = {t.linear.x,  t.linear.y,  t.linear.z,
                             t.angular.x, t.angular.y, t.angular.z};
        rgWriteNumbers(file, numbers, 6);
        break;
    }
    case rg_columnEnergy: {
        double numbers[2] = {rgWorld_KineticEnergy(world), rgWorld_PotentialEnergy(world)};
        rgWriteNumbers(file, numbers, 2);
        break;
    }
    }
}

void rgColumns_Write(const rgColumns* columns, FILE* file, const rgSimulation* simulation) {
    fprintf(file, "%.9g", rgWorld_Time(simulation->world));
    for (int i = 0; i < columns->count; ++i) {
        rgWriteColumn(&columns->items[i], file, simulation);
    }
    fputc('\n', file);
}
