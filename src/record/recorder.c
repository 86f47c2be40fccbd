// The writer of recordings. Steps are copied into a batch; full batches go through a short queue to
// a thread that appends them to the file. The file is in HDF5's single-writer mode, whose order of
// writes keeps it readable when the program dies.
#include "base/system.h"
#include "dynamics/dynamics.h"
#include "record/record.h"
#include "world/world.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

enum {
    rg_queueLength = 4,
    rg_batchFrames = 256,
    rg_batchBytes = 4 << 20,   // a batch beyond this goes to the writer early
    rg_chunkBytes = 64 << 10,  // size of a dataset's chunks
    rg_unlimitedChunks = 4096, // rows of a chunk at most
    rg_indexBytes = 16 << 10,  // growth of a column's index by one batch, chunks left out
    rg_roomBytes = 4 << 20,    // room that is reserved on the disk at once, if it is there
};

// In the place of a kinetic energy that the writer is to compute.
static const double rg_energyLater = -1e300;

typedef struct rgBuffer {
    char* bytes;
    int used, capacity;
} rgBuffer;

typedef struct rgBatch {
    int frameCount;
    rgBuffer columns[rg_columnCount];
} rgBatch;

struct rgRecorder {
    rgAllocator allocator;
    rgH5 h5;          // the writer's alone while it runs
    char* path;       // h5.path
    int claim;        // descriptor that keeps other writers away
    uint64_t room;    // bytes of the disk that the file has, used or not
    uint64_t pending; // bytes that the file may yet grow by, as HDF5 keeps rows in memory
    int interval;
    int compression;
    double flushSeconds;
    int width[rg_columnCount]; // cells per row; 0: no dataset
    hid_t dataset[rg_columnCount];
    hsize_t rows[rg_columnCount]; // in the file
    uint64_t contactEnd;
    int64_t calls;
    double lastHandOver;
    double lastFlush;     // the writer's
    const rgModel* model; // shared, which nobody changes; NULL: the world has one of its own
    rgDynamics* dynamics; // the writer's, of that model, for energies
    uint64_t hash;        // hash of the last frame written
    rgBatch batches[rg_queueLength];
    pid_t process; // that has the writer: a child of fork() has neither it nor the file
    // shared with the writer
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t wake; // for the writer: a batch, or the end
    pthread_cond_t done; // for the caller: a batch was written
    int head;            // batches handed over
    int tail;            // batches written; the one being filled is head % rg_queueLength
    bool ending;
    bool flushRequested; // with the last batch
    rgResult result;
    bool isFinished;
};

rgRecorderDef rgDefaultRecorderDef(void) {
    return (rgRecorderDef){
        .interval = 1, .flushSeconds = 0.5, .compression = 1, .cookie = RG_COOKIE_RECORDER};
}

// ---- the file ----

static void rgRecorder_WriteText(rgRecorder* r, const char* name, const char* text,
                                 int compression) {
    rgH5* h5 = &r->h5;
    if (h5->result != rg_ok) {
        return;
    }
    hsize_t count = text != NULL ? strlen(text) : 0;
    hid_t plist = H5Pcreate(H5P_DATASET_CREATE);
    hid_t space = H5Screate_simple(1, &count, NULL);
    if (count > 0) {
        hsize_t chunk = RG_MIN(count, (hsize_t)1 << 20);
        H5Pset_chunk(plist, 1, &chunk);
        H5Pset_deflate(plist, (unsigned)RG_MAX(compression, 1));
        H5Pset_fletcher32(plist);
    }
    hid_t dataset =
        H5Dcreate2(h5->file, name, H5T_NATIVE_UINT8, space, H5P_DEFAULT, plist, H5P_DEFAULT);
    bool good = dataset >= 0 && (count == 0 || H5Dwrite(dataset, H5T_NATIVE_UINT8, H5S_ALL, H5S_ALL,
                                                        H5P_DEFAULT, text) >= 0);
    if (dataset >= 0) {
        H5Dclose(dataset);
    }
    H5Sclose(space);
    H5Pclose(plist);
    if (!good) {
        rgH5_Fail(h5, rg_errorFile, "cannot write %s", name);
    }
}

static hsize_t rgRecorder_ChunkRows(const rgRecorder* r, rgColumn column) {
    hsize_t rows =
        (hsize_t)rg_chunkBytes / ((hsize_t)r->width[column] * rgCellSize(rgColumns[column].type));
    return RG_MIN(RG_MAX(rows, 1), (hsize_t)rg_unlimitedChunks);
}

static void rgRecorder_MakeColumn(rgRecorder* r, rgColumn column) {
    const rgColumnInfo* info = &rgColumns[column];
    rgH5* h5 = &r->h5;
    hsize_t width = (hsize_t)r->width[column];
    if (width == 0 || h5->result != rg_ok) {
        return;
    }
    hsize_t chunk[2] = {rgRecorder_ChunkRows(r, column), width};
    hsize_t none[2] = {0, width};
    hsize_t limit[2] = {H5S_UNLIMITED, width};
    int rank = info->width == 1 ? 1 : 2;
    hid_t plist = H5Pcreate(H5P_DATASET_CREATE);
    hid_t space = H5Screate_simple(rank, none, limit);
    H5Pset_chunk(plist, rank, chunk);
    if (r->compression > 0 && !info->raw) {
        H5Pset_shuffle(plist);
        H5Pset_deflate(plist, (unsigned)r->compression);
    }
    H5Pset_fletcher32(plist);
    r->dataset[column] = H5Dcreate2(h5->file, info->name, rgCellH5Type(info->type), space,
                                    H5P_DEFAULT, plist, H5P_DEFAULT);
    H5Sclose(space);
    H5Pclose(plist);
    if (r->dataset[column] < 0) {
        rgH5_Fail(h5, rg_errorFile, "cannot write %s", info->name);
    }
}

// Texts that describe a recording's model; the room of the file depends on them.
typedef struct rgDescription {
    char *mjcf, *scene; // owned
} rgDescription;

static rgResult rgRecorder_Describe(const rgRecorder* r, const rgRecorderDef* def,
                                    const rgWorld* world, rgDescription* description) {
    rgResult result = rgDescribeModel(rgWorld_Model(world), &r->allocator, &description->scene);
    if (result == rg_ok && def->def != NULL) {
        result = rgDescribeDef(def->def, &r->allocator, &description->mjcf);
    }
    return result;
}

static void rgRecorder_WriteModel(rgRecorder* r, const rgRecorderDef* def, const rgWorld* world,
                                  const rgDescription* description) {
    rgH5_MakeGroup(&r->h5, "model");
    rgH5_MakeGroup(&r->h5, "run");
    rgH5_MakeGroup(&r->h5, "frames");
    rgH5_MakeGroup(&r->h5, "contacts");
    rgH5_WriteText(&r->h5, "format", RG_RECORD_FORMAT);
    rgH5_WriteInt(&r->h5, "version", RG_RECORD_VERSION);
    rgH5_WriteInt(&r->h5, "revision", RG_PHYSICS_REVISION);
    rgH5_WriteInt(&r->h5, "run/interval", def->interval);
    double dt = rgWorld_TimeStep(world);
    rgH5_WriteNumbers(&r->h5, "run/time_step", &dt, 1);
    rgRecorder_WriteText(r, "model/mjcf", description->mjcf, def->compression);
    rgRecorder_WriteText(r, "model/scene", description->scene, def->compression);
    const char* title = def->title != NULL ? def->title : rgModel_Info(rgWorld_Model(world)).name;
    rgRecorder_WriteText(r, "run/title", title, def->compression);
    rgRecorder_WriteText(r, "run/arguments", def->arguments, def->compression);
}

static void rgRecorder_SetWidths(rgRecorder* r, const rgWorld* world) {
    int sensorCount = 0;
    rgModelInfo model = rgModel_Info(rgWorld_Model(world));
    rgWorld_Sensors(world, &sensorCount);
    for (int i = 0; i < rg_columnCount; ++i) {
        r->width[i] = rgColumns[i].width;
        r->dataset[i] = -1;
    }
    r->width[rg_columnQ] = model.qCount;
    r->width[rg_columnV] = model.vCount;
    r->width[rg_columnControl] = model.actuatorCount;
    r->width[rg_columnActivation] = model.activationCount;
    r->width[rg_columnSensors] = sensorCount;
    r->width[rg_columnKinematic] = RG_POSE_NUMBERS * rgWorld_Model(world)->kinematicCount;
}

// The most that a column adds to the file with so many rows more: the chunks that they begin, the
// one that they go on with, which may move, and their index.
static uint64_t rgRecorder_Growth(const rgRecorder* r, rgColumn column, uint64_t rows) {
    if (r->width[column] == 0) {
        return 0;
    }
    size_t rowBytes = (size_t)r->width[column] * rgCellSize(rgColumns[column].type);
    uint64_t chunkRows = rgRecorder_ChunkRows(r, column);
    uint64_t chunks = (rows + chunkRows - 1) / chunkRows + 1;
    uint64_t chunkBytes = chunkRows * rowBytes;
    return chunks * (chunkBytes + chunkBytes / 256 + 64) + rg_indexBytes;
}

static uint64_t rgRecorder_BatchGrowth(const rgRecorder* r, const rgBatch* batch) {
    uint64_t growth = 0;
    for (int i = 0; i < rg_columnCount; ++i) {
        size_t rowBytes = (size_t)r->width[i] * rgCellSize(rgColumns[i].type);
        growth += rgRecorder_Growth(r, (rgColumn)i,
                                    rowBytes > 0 ? (size_t)batch->columns[i].used / rowBytes : 0);
    }
    return growth;
}

static void rgRecorder_FlushFile(rgRecorder* r) {
    for (int k = 0; k < rg_columnCount; ++k) {
        int column = (k + rg_columnFirstOfContact) % rg_columnCount;
        if (r->dataset[column] >= 0 && r->h5.result == rg_ok && H5Dflush(r->dataset[column]) < 0) {
            rgH5_Fail(&r->h5, rg_errorFile, "cannot write %s: is the disk full?",
                      rgColumns[column].name);
        }
    }
    r->pending = 0;
}

static uint64_t rgRecorder_Size(rgRecorder* r) {
    hsize_t size = 0;
    if (r->h5.result == rg_ok && H5Fget_filesize(r->h5.file, &size) < 0) {
        rgH5_Fail(&r->h5, rg_errorFile, "cannot be written: its size is not known");
    }
    return size;
}

// Reserve disk space for a batch, and for closing the file after it, before HDF5 writes any of it:
// a disk that fills up within HDF5 leaves an unreadable file.
static void rgRecorder_MakeRoom(rgRecorder* r, uint64_t growth) {
    uint64_t size = rgRecorder_Size(r);
    if (size + r->pending + growth > r->room && r->pending > 0) {
        rgRecorder_FlushFile(r);
        size = rgRecorder_Size(r);
    }
    uint64_t need = size + r->pending + growth;
    r->pending += growth;
    if (r->h5.result != rg_ok || need <= r->room) {
        return;
    }
    if (rgReserveDisk(r->claim, size, need + rg_roomBytes)) {
        r->room = need + rg_roomBytes;
    } else if (rgReserveDisk(r->claim, size, need)) {
        r->room = need;
    } else {
        rgH5_Fail(&r->h5, rg_errorFile,
                  "no room for more: %s; the recording ends after %lld frames", strerror(errno),
                  (long long)r->rows[rg_columnTime]);
    }
}

static void rgRecorder_Open(rgRecorder* r, const rgRecorderDef* def, const rgWorld* world,
                            const rgDescription* description, uint64_t growth) {
    rgRecorder_MakeRoom(r, growth);
    rgRecorder_WriteModel(r, def, world, description);
    for (int i = 0; i < rg_columnCount; ++i) {
        rgRecorder_MakeColumn(r, (rgColumn)i);
    }
    if (r->h5.result == rg_ok && H5Fstart_swmr_write(r->h5.file) < 0) {
        rgH5_Fail(&r->h5, rg_errorFile, "cannot be written step by step");
    }
}

static void rgRecorder_Append(rgRecorder* r, rgColumn column, const rgBuffer* buffer) {
    const rgColumnInfo* info = &rgColumns[column];
    size_t rowBytes = (size_t)r->width[column] * rgCellSize(info->type);
    if (r->width[column] == 0 || buffer->used == 0 || r->h5.result != rg_ok) {
        return;
    }
    hsize_t width = (hsize_t)r->width[column];
    hsize_t count[2] = {(hsize_t)buffer->used / rowBytes, width};
    hsize_t start[2] = {r->rows[column], 0};
    hsize_t extent[2] = {r->rows[column] + count[0], width};
    int rank = info->width == 1 ? 1 : 2;
    hid_t type = rgCellH5Type(info->type);
    bool good = H5Dset_extent(r->dataset[column], extent) >= 0;
    hid_t memory = H5Screate_simple(rank, count, NULL);
    hid_t file = H5Dget_space(r->dataset[column]);
    good = good && H5Sselect_hyperslab(file, H5S_SELECT_SET, start, NULL, count, NULL) >= 0 &&
           H5Dwrite(r->dataset[column], type, memory, file, H5P_DEFAULT, buffer->bytes) >= 0;
    H5Sclose(file);
    H5Sclose(memory);
    if (!good) {
        rgH5_Fail(&r->h5, rg_errorFile, "cannot write %s: is the disk full?", info->name);
    }
    r->rows[column] = extent[0];
}

static void rgStoreEnergy(rgEnergy from, double* energy) {
    energy[0] = from.kinetic;
    energy[1] = from.potential + from.spring;
}

// Compute in the writer, not in the simulation: energies while the model is the shared one, and
// chained hashes of time, q and v.
static void rgRecorder_Derive(rgRecorder* r, rgBatch* batch) {
    size_t nq = (size_t)r->width[rg_columnQ], nv = (size_t)r->width[rg_columnV];
    const double* q = (const double*)(const void*)batch->columns[rg_columnQ].bytes;
    const double* v = (const double*)(const void*)batch->columns[rg_columnV].bytes;
    const double* time = (const double*)(const void*)batch->columns[rg_columnTime].bytes;
    const rgVec3* gravity = (const rgVec3*)(const void*)batch->columns[rg_columnGravity].bytes;
    double* energy = (double*)(void*)batch->columns[rg_columnEnergy].bytes;
    uint64_t* hash = (uint64_t*)(void*)batch->columns[rg_columnHash].bytes;
    for (size_t i = 0; i < (size_t)batch->frameCount; ++i) {
        if (energy[2 * i] == rg_energyLater) {
            r->dynamics->gravity = gravity[i];
            rgDynamics_SetState(r->dynamics, q + i * nq, v + i * nv);
            rgStoreEnergy(rgDynamics_Energy(r->dynamics), energy + 2 * i);
        }
        r->hash = rgHashBytes(time + i, sizeof(double), r->hash);
        r->hash = rgHashBytes(q + i * nq, nq * sizeof(double), r->hash);
        r->hash = rgHashBytes(v + i * nv, nv * sizeof(double), r->hash);
        hash[i] = r->hash;
    }
}

// Contacts first and times last: a reader takes the frames that every column has.
static rgResult rgRecorder_WriteBatch(rgRecorder* r, rgBatch* batch, bool flush) {
    rgRecorder_Derive(r, batch);
    rgRecorder_MakeRoom(r, rgRecorder_BatchGrowth(r, batch));
    for (int k = 0; k < rg_columnCount; ++k) {
        int column = (k + rg_columnFirstOfContact) % rg_columnCount;
        rgRecorder_Append(r, (rgColumn)column, &batch->columns[column]);
    }
    if (flush) {
        rgRecorder_FlushFile(r);
    }
    return r->h5.result;
}

// ---- the thread ----

static void* rgRecorder_Main(void* argument) {
    rgRecorder* r = argument;
    pthread_mutex_lock(&r->mutex);
    for (;;) {
        while (r->head == r->tail && !r->ending) {
            pthread_cond_wait(&r->wake, &r->mutex);
        }
        if (r->head == r->tail) {
            break;
        }
        rgBatch* batch = &r->batches[r->tail % rg_queueLength];
        bool flush = r->flushRequested && r->head - r->tail == 1;
        pthread_mutex_unlock(&r->mutex);
        double now = rgSeconds();
        flush = flush || now - r->lastFlush >= r->flushSeconds;
        r->lastFlush = flush ? now : r->lastFlush;
        rgResult result = rgRecorder_WriteBatch(r, batch, flush);
        pthread_mutex_lock(&r->mutex);
        r->result = r->result == rg_ok ? result : r->result;
        r->tail += 1;
        pthread_cond_signal(&r->done);
    }
    pthread_mutex_unlock(&r->mutex);
    return NULL;
}

// Give the batch to the writer, and block while its queue is full (`all`: until it is empty).
static rgResult rgRecorder_HandOver(rgRecorder* r, bool all) {
    pthread_mutex_lock(&r->mutex);
    if (all || r->batches[r->head % rg_queueLength].frameCount > 0) {
        r->head += 1;
        r->flushRequested = all;
        pthread_cond_signal(&r->wake);
    }
    while (r->head - r->tail >= (all ? 1 : rg_queueLength)) {
        pthread_cond_wait(&r->done, &r->mutex);
    }
    rgBatch* next = &r->batches[r->head % rg_queueLength];
    rgResult result = r->result;
    pthread_mutex_unlock(&r->mutex);
    next->frameCount = 0;
    for (int i = 0; i < rg_columnCount; ++i) {
        next->columns[i].used = 0;
    }
    r->lastHandOver = rgSeconds();
    return result;
}

// ---- adding ----

static void* rgBatch_Grow(rgRecorder* r, rgBatch* batch, rgColumn column, size_t rows) {
    rgBuffer* buffer = &batch->columns[column];
    size_t bytes = rows * (size_t)r->width[column] * rgCellSize(rgColumns[column].type);
    if (bytes > INT32_MAX / 4 || rgReserve(&r->allocator, (void**)&buffer->bytes, &buffer->capacity,
                                           buffer->used, buffer->used + (int)bytes, 1) != rg_ok) {
        return NULL;
    }
    // A column without width may have no memory yet.
    void* place = bytes > 0 ? buffer->bytes + buffer->used : buffer->bytes;
    buffer->used += (int)bytes;
    return place;
}

static bool rgBatch_Put(rgRecorder* r, rgBatch* batch, rgColumn column, const void* row) {
    void* place = rgBatch_Grow(r, batch, column, 1);
    size_t bytes = (size_t)r->width[column] * rgCellSize(rgColumns[column].type);
    if (place != NULL && bytes > 0) {
        memcpy(place, row, bytes);
    }
    return place != NULL || bytes == 0;
}

static void rgPutVec(float* row, rgVec3 v) {
    row[0] = (float)v.x;
    row[1] = (float)v.y;
    row[2] = (float)v.z;
}

static bool rgBatch_PutContacts(rgRecorder* r, rgBatch* batch, const rgContact* contacts,
                                int count) {
    char* rows[rg_columnCount] = {0};
    for (int i = rg_columnFirstOfContact; count > 0 && i < rg_columnCount; ++i) {
        rows[i] = rgBatch_Grow(r, batch, (rgColumn)i, (size_t)count);
        if (rows[i] == NULL) {
            return false;
        }
    }
    for (int i = 0; i < count; ++i) {
        const rgContact* c = &contacts[i];
        int32_t* bodies = (int32_t*)(void*)rows[rg_columnBodies] + 2 * i;
        int32_t* shapes = (int32_t*)(void*)rows[rg_columnShapes] + 2 * i;
        bodies[0] = c->bodyA.index1, bodies[1] = c->bodyB.index1;
        shapes[0] = c->shapeA.index1, shapes[1] = c->shapeB.index1;
        ((uint32_t*)(void*)rows[rg_columnFeature])[i] = c->feature;
        rgPutVec((float*)(void*)rows[rg_columnPoint] + 3 * i, c->point);
        rgPutVec((float*)(void*)rows[rg_columnNormal] + 3 * i, c->normal);
        rgPutVec((float*)(void*)rows[rg_columnForce] + 3 * i, c->force);
        ((float*)(void*)rows[rg_columnGap])[i] = (float)c->gap;
        ((float*)(void*)rows[rg_columnMu])[i] = (float)c->mu;
        ((uint8_t*)rows[rg_columnState])[i] = (uint8_t)c->state;
    }
    r->contactEnd += (uint64_t)count;
    return true;
}

static bool rgBatch_PutReport(rgRecorder* r, rgBatch* batch, const rgStepReport* report) {
    static const rgStepReport none = {.contact = {.status = rg_contactSolved}};
    const rgStepReport* from = report != NULL ? report : &none;
    double residual = from->contact.residual.total;
    int32_t iterations = from->contact.iterationCount;
    int32_t regularized = from->regularizedRows;
    uint8_t status = (uint8_t)(from->rowCount > 0 ? from->contact.status : rg_contactSolved);
    float stages[rg_stageCount];
    for (int i = 0; i < rg_stageCount; ++i) {
        stages[i] = (float)from->stageSeconds[i];
    }
    return rgBatch_Put(r, batch, rg_columnResidual, &residual) &&
           rgBatch_Put(r, batch, rg_columnIterations, &iterations) &&
           rgBatch_Put(r, batch, rg_columnStatus, &status) &&
           rgBatch_Put(r, batch, rg_columnRegularized, &regularized) &&
           rgBatch_Put(r, batch, rg_columnStages, stages);
}

static bool rgBatch_PutKinematic(rgRecorder* r, rgBatch* batch, const rgWorld* world) {
    if (r->width[rg_columnKinematic] == 0) {
        return true;
    }
    const rgModel* model = rgWorld_Model(world);
    rgPose* place = rgBatch_Grow(r, batch, rg_columnKinematic, 1);
    rgBodyId body = rgModel_NextKinematic(model, (rgBodyId){0});
    for (; place != NULL && body.index1 > 0; body = rgModel_NextKinematic(model, body)) {
        *place++ = rgWorld_BodyPose(world, body);
    }
    return place != NULL;
}

static bool rgBatch_PutState(rgRecorder* r, rgBatch* batch, const rgWorld* world) {
    double time = rgWorld_Time(world);
    const uint64_t later = 0; // rgRecorder_Derive
    double energy[2] = {rg_energyLater, 0};
    if (rgWorld_Model(world) != r->model) {
        rgStoreEnergy(rgDynamics_Energy(
                          rgReadout_CurrentDynamics(world->readout, &world->state, world->model)),
                      energy);
    }
    return rgBatch_Put(r, batch, rg_columnQ, rgWorld_Positions(world, NULL)) &&
           rgBatch_Put(r, batch, rg_columnV, rgWorld_Velocities(world, NULL)) &&
           rgBatch_Put(r, batch, rg_columnControl, rgWorld_Control(world, NULL)) &&
           rgBatch_Put(r, batch, rg_columnActivation, rgWorld_Activation(world, NULL)) &&
           (r->width[rg_columnSensors] == 0 ||
            rgBatch_Put(r, batch, rg_columnSensors, rgWorld_Sensors(world, NULL))) &&
           rgBatch_PutKinematic(r, batch, world) &&
           rgBatch_Put(r, batch, rg_columnGravity, &world->settings.gravity) &&
           rgBatch_Put(r, batch, rg_columnEnergy, energy) &&
           rgBatch_Put(r, batch, rg_columnHash, &later) &&
           rgBatch_Put(r, batch, rg_columnTime, &time);
}

static bool rgBatch_IsFull(const rgBatch* batch) {
    int bytes = 0;
    for (int i = 0; i < rg_columnCount; ++i) {
        bytes += batch->columns[i].used;
    }
    return batch->frameCount >= rg_batchFrames || bytes >= rg_batchBytes;
}

rgResult rgRecorder_Add(rgRecorder* recorder, const rgWorld* world, const rgStepReport* report) {
    if (recorder == NULL || world == NULL || recorder->isFinished ||
        recorder->process != getpid()) {
        return rg_errorArgument;
    }
    const rgModel* model = rgWorld_Model(world);
    rgModelInfo info = rgModel_Info(model);
    if (info.qCount != recorder->width[rg_columnQ] || info.vCount != recorder->width[rg_columnV] ||
        RG_POSE_NUMBERS * model->kinematicCount != recorder->width[rg_columnKinematic]) {
        return rg_errorArgument;
    }
    if (recorder->calls++ % recorder->interval != 0) {
        return rg_ok;
    }
    rgBatch* batch = &recorder->batches[recorder->head % rg_queueLength];
    int used[rg_columnCount], count = 0;
    uint64_t contactEnd = recorder->contactEnd;
    for (int i = 0; i < rg_columnCount; ++i) {
        used[i] = batch->columns[i].used;
    }
    const rgContact* contacts = report != NULL ? rgWorld_Contacts(world, &count) : NULL;
    bool good = rgBatch_PutContacts(recorder, batch, contacts, count) &&
                rgBatch_Put(recorder, batch, rg_columnContactEnd, &recorder->contactEnd) &&
                rgBatch_PutReport(recorder, batch, report) &&
                rgBatch_PutState(recorder, batch, world);
    if (!good) { // no part of the frame stays
        for (int i = 0; i < rg_columnCount; ++i) {
            batch->columns[i].used = used[i];
        }
        recorder->contactEnd = contactEnd;
        recorder->calls -= 1;
        return rg_errorMemory;
    }
    batch->frameCount += 1;
    if (rgBatch_IsFull(batch) || rgSeconds() - recorder->lastHandOver > recorder->flushSeconds) {
        return rgRecorder_HandOver(recorder, false);
    }
    return rg_ok;
}

rgResult rgRecorder_Flush(rgRecorder* recorder) {
    if (recorder == NULL || recorder->isFinished || recorder->process != getpid()) {
        return rg_errorArgument;
    }
    return rgRecorder_HandOver(recorder, true);
}

// ---- life ----

static bool rgRecorder_StartThread(rgRecorder* r) {
    pthread_mutex_init(&r->mutex, NULL);
    pthread_cond_init(&r->wake, NULL);
    pthread_cond_init(&r->done, NULL);
    if (pthread_create(&r->thread, NULL, rgRecorder_Main, r) == 0) {
        return true;
    }
    pthread_mutex_destroy(&r->mutex);
    pthread_cond_destroy(&r->wake);
    pthread_cond_destroy(&r->done);
    return false;
}

static void rgRecorder_CloseFile(rgRecorder* r) {
    for (int i = 0; i < rg_columnCount; ++i) {
        if (r->dataset[i] >= 0 && H5Dclose(r->dataset[i]) < 0) {
            rgH5_Fail(&r->h5, rg_errorFile, "cannot write %s", rgColumns[i].name);
        }
        r->dataset[i] = -1;
    }
    rgH5_Close(&r->h5);
    rgReleaseDisk(r->claim);
    close(r->claim);
    r->isFinished = true;
}

static void rgRecorder_Free(rgRecorder* r) {
    rgAllocator allocator = r->allocator;
    for (int k = 0; k < rg_queueLength; ++k) {
        for (int i = 0; i < rg_columnCount; ++i) {
            rgRelease(&allocator, r->batches[k].columns[i].bytes);
        }
    }
    rgDestroyDynamics(r->dynamics);
    rgRelease(&allocator, r->path);
    rgRelease(&allocator, r);
}

// Before HDF5 empties what is there, which may be the recording of another program: the file is
// this recorder's, and the disk has room for its first rows.
static rgResult rgRecorder_LockFile(rgRecorder* r, uint64_t growth, rgDiagnostics* diagnostics) {
    const char* fault;
    int reason;
    r->claim = rgLockFile(r->path, true, &fault, &reason);
    if (r->claim >= 0 && !rgReserveDisk(r->claim, 0, growth)) {
        fault = "cannot be written: no room for a recording";
        reason = errno;
        close(r->claim);
        r->claim = -1;
    }
    if (r->claim < 0) {
        rgDiagnostics_Add(diagnostics, rg_severityError, r->path, 0, "%s%s%s", fault,
                          reason != 0 ? ": " : "", reason != 0 ? strerror(reason) : "");
    }
    return r->claim >= 0 ? rg_ok : rg_errorFile;
}

static rgResult rgRecorder_Begin(rgRecorder* r, const rgRecorderDef* def, const rgWorld* world,
                                 const rgDescription* description, rgDiagnostics* diagnostics) {
    static const rgBatch none;
    uint64_t texts = 0;
    const char* const all[] = {description->mjcf, description->scene, def->title, def->arguments};
    for (int i = 0; i < RG_COUNT(all); ++i) {
        texts += all[i] != NULL ? strlen(all[i]) : 0;
    }
    uint64_t growth = rgRecorder_BatchGrowth(r, &none) + texts + texts / 64 + rg_chunkBytes;
    rgResult result = rgRecorder_LockFile(r, growth, diagnostics);
    if (result != rg_ok) {
        return result;
    }
    rgH5_CreateGrowing(&r->h5, r->path, diagnostics);
    rgRecorder_Open(r, def, world, description, growth);
    r->model = world->model != &world->variant.own ? world->model : NULL;
    rgDynamicsDef dynamics = rgDefaultDynamicsDef(rgWorld_Model(world));
    if (r->h5.result == rg_ok && r->model != NULL &&
        rgCreateDynamics(r->model, &dynamics, &r->dynamics) != rg_ok) {
        rgH5_Fail(&r->h5, rg_errorMemory, "no memory to write it");
    }
    if (r->h5.result == rg_ok && !rgRecorder_StartThread(r)) {
        rgH5_Fail(&r->h5, rg_errorMemory, "no thread could be started to write it");
    }
    result = r->h5.result;
    if (result != rg_ok) {
        rgRecorder_CloseFile(r);
    }
    return result;
}

rgResult rgCreateRecorder(const rgRecorderDef* def, const rgWorld* world,
                          rgDiagnostics* diagnostics, rgRecorder** recorder) {
    if (def == NULL || world == NULL || recorder == NULL || def->path == NULL ||
        def->cookie != RG_COOKIE_RECORDER || def->interval < 1 || def->compression < 0 ||
        def->compression > 9 || !(def->flushSeconds >= 0)) {
        return rg_errorArgument;
    }
    rgRecorder* r = rgAllocate(&def->allocator, 1, sizeof(rgRecorder));
    if (r == NULL) {
        return rg_errorMemory;
    }
    r->allocator = rgResolveAllocator(&def->allocator);
    r->path = rgCopyString(&def->allocator, def->path);
    r->interval = def->interval;
    r->compression = def->compression;
    r->flushSeconds = def->flushSeconds;
    r->lastHandOver = rgSeconds();
    r->process = getpid();
    rgRecorder_SetWidths(r, world);
    rgDescription description = {0};
    rgResult result =
        r->path != NULL ? rgRecorder_Describe(r, def, world, &description) : rg_errorMemory;
    if (result == rg_ok) {
        result = rgRecorder_Begin(r, def, world, &description, diagnostics);
    }
    rgRelease(&r->allocator, description.mjcf);
    rgRelease(&r->allocator, description.scene);
    if (result != rg_ok) {
        rgRecorder_Free(r);
        return result;
    }
    *recorder = r;
    return rg_ok;
}

rgResult rgRecorder_Finish(rgRecorder* recorder) {
    if (recorder == NULL || recorder->process != getpid()) {
        return rg_errorArgument;
    }
    if (!recorder->isFinished) {
        rgRecorder_HandOver(recorder, true);
        pthread_mutex_lock(&recorder->mutex);
        recorder->ending = true;
        pthread_cond_signal(&recorder->wake);
        pthread_mutex_unlock(&recorder->mutex);
        pthread_join(recorder->thread, NULL);
        pthread_mutex_destroy(&recorder->mutex);
        pthread_cond_destroy(&recorder->wake);
        pthread_cond_destroy(&recorder->done);
        rgRecorder_CloseFile(recorder);
    }
    return recorder->h5.result;
}

void rgDestroyRecorder(rgRecorder* recorder) {
    if (recorder != NULL) {
        rgRecorder_Finish(recorder);
        rgRecorder_Free(recorder);
    }
}
