// The reader of recordings. Frames are read in blocks, all columns of a block at once.
#include "record/record.h"

#include <string.h>

enum { rg_blockFrames = 256 };

struct rgRecording {
    rgAllocator allocator;
    rgH5 h5;
    char* path;
    char *title, *mjcf, *scene, *arguments;
    rgRecordingInfo info;
    int width[rg_columnCount];
    hid_t dataset[rg_columnCount]; // negative: not in the file
    int64_t blockFirst;            // frame; negative: none
    int64_t blockCount;
    uint64_t contactFirst; // first contact of the block
    void* cells[rg_columnCount];
    int cellCapacity[rg_columnCount]; // bytes
    rgRecordedContact* contacts;      // contacts of the block
    int contactCapacity;
};

// ---- opening ----

static char* rgRecording_ReadText(rgRecording* r, const char* name) {
    rgH5* h5 = &r->h5;
    int64_t count = rgH5_Count(h5, name);
    if (h5->result == rg_ok && (count < 0 || count > INT32_MAX)) {
        rgH5_Fail(h5, rg_errorFormat, "%s is missing or not a text", name);
    }
    hid_t dataset = rgH5_OpenDataset(h5, name);
    if (dataset < 0) {
        return NULL;
    }
    char* text = rgAllocate(&r->allocator, (size_t)count + 1, 1);
    if (text == NULL) {
        rgH5_Fail(h5, rg_errorMemory, "no memory for %s", name);
    } else if (count > 0 &&
               H5Dread(dataset, H5T_NATIVE_UINT8, H5S_ALL, H5S_ALL, H5P_DEFAULT, text) < 0) {
        rgH5_Fail(h5, rg_errorFormat, "%s cannot be read: damaged or truncated", name);
    }
    H5Dclose(dataset);
    return text;
}

static void rgRecording_CheckFormat(rgRecording* r) {
    rgH5* h5 = &r->h5;
    char* format = rgH5_ReadText(h5, "format");
    if (h5->result == rg_ok && (format == NULL || strcmp(format, RG_RECORD_FORMAT) != 0)) {
        rgH5_Fail(h5, rg_errorFormat, "is an HDF5 file, but not a recording of rigor");
    }
    rgRelease(&r->allocator, format);
    int version = rgH5_ReadInt(h5, "version");
    if (h5->result == rg_ok && version != RG_RECORD_VERSION) {
        rgH5_Fail(h5, rg_errorUnsupported, "is a recording of version %d; this program reads %d",
                  version, RG_RECORD_VERSION);
    }
}

// Rows of a column, and its width where the model decides it.
static int64_t rgRecording_OpenColumn(rgRecording* r, int column) {
    const rgColumnInfo* info = &rgColumns[column];
    rgH5* h5 = &r->h5;
    r->dataset[column] = -1;
    if (h5->result != rg_ok) {
        return 0;
    }
    if (!rgH5_Has(h5, info->name)) {
        if (info->width > 0) {
            rgH5_Fail(h5, rg_errorFormat, "%s is missing", info->name);
        }
        return INT64_MAX; // nothing is lacking
    }
    r->dataset[column] = rgH5_OpenDataset(h5, info->name);
    hid_t space = r->dataset[column] >= 0 ? H5Dget_space(r->dataset[column]) : -1;
    hsize_t extent[2] = {0, 1};
    int rank = info->width == 1 ? 1 : 2;
    bool good = space >= 0 && H5Sget_simple_extent_ndims(space) == rank &&
                H5Sget_simple_extent_dims(space, extent, NULL) == rank;
    if (space >= 0) {
        H5Sclose(space);
    }
    if (!good || extent[1] > INT32_MAX / 64 || extent[0] > INT64_MAX / 2 ||
        (info->width > 0 && extent[1] != (hsize_t)info->width)) {
        rgH5_Fail(h5, rg_errorFormat, "%s does not have the shape of a recording", info->name);
        return 0;
    }
    r->width[column] = (int)extent[1];
    return (int64_t)extent[0];
}

// Rows of the last chunk, which the writer of a growing recording writes again and again: a reader
// may meet it half done, with the checksum of its old content. Its old rows are the same in
// both.
static bool rgRecording_IsInMotion(const rgRecording* r, int column, int64_t end) {
    hid_t space = H5Dget_space(r->dataset[column]);
    hid_t plan = H5Dget_create_plist(r->dataset[column]);
    hsize_t extent[2] = {0}, chunk[2] = {0};
    bool known = space >= 0 && plan >= 0 && H5Pget_layout(plan) == H5D_CHUNKED &&
                 H5Sget_simple_extent_dims(space, extent, NULL) > 0 &&
                 H5Pget_chunk(plan, 2, chunk) > 0;
    H5Pclose(plan);
    H5Sclose(space);
    return r->h5.isGrowing && known && (hsize_t)end + chunk[0] > extent[0];
}

static bool rgRecording_ReadSlab(rgRecording* r, int column, int64_t first, int64_t count,
                                 hid_t transfer) {
    hsize_t start[2] = {(hsize_t)first, 0};
    hsize_t size[2] = {(hsize_t)count, (hsize_t)r->width[column]};
    int rank = rgColumns[column].width == 1 ? 1 : 2;
    hid_t memory = H5Screate_simple(rank, size, NULL);
    hid_t file = H5Dget_space(r->dataset[column]);
    bool good = H5Sselect_hyperslab(file, H5S_SELECT_SET, start, NULL, size, NULL) >= 0 &&
                H5Dread(r->dataset[column], rgCellH5Type(rgColumns[column].type), memory, file,
                        transfer, r->cells[column]) >= 0;
    H5Sclose(file);
    H5Sclose(memory);
    return good;
}

static bool rgRecording_ReadCells(rgRecording* r, int column, int64_t first, int64_t count) {
    const rgColumnInfo* info = &rgColumns[column];
    size_t rowBytes = (size_t)r->width[column] * rgCellSize(info->type);
    if (r->dataset[column] < 0 || r->h5.result != rg_ok || count == 0) {
        return r->h5.result == rg_ok;
    }
    if ((size_t)count * rowBytes > INT32_MAX ||
        rgReserve(&r->allocator, &r->cells[column], &r->cellCapacity[column], 0,
                  (int)((size_t)count * rowBytes), 1) != rg_ok) {
        rgH5_Fail(&r->h5, rg_errorMemory, "no memory for %s", info->name);
        return false;
    }
    bool good = rgRecording_ReadSlab(r, column, first, count, H5P_DEFAULT);
    if (!good && rgRecording_IsInMotion(r, column, first + count)) {
        hid_t transfer = H5Pcreate(H5P_DATASET_XFER);
        H5Pset_edc_check(transfer, H5Z_DISABLE_EDC);
        good = rgRecording_ReadSlab(r, column, first, count, transfer);
        H5Pclose(transfer);
    }
    if (!good) {
        rgH5_Fail(&r->h5, rg_errorFormat, "%s cannot be read from row %lld: damaged or truncated",
                  info->name, (long long)first);
    }
    return good;
}

static uint64_t rgRecording_ContactEnd(rgRecording* r, int64_t frame) {
    if (frame < 0 || !rgRecording_ReadCells(r, rg_columnContactEnd, frame, 1)) {
        return 0;
    }
    return *(const uint64_t*)r->cells[rg_columnContactEnd];
}

// A crash leaves columns of different lengths: only frames that all of them have count.
static void rgRecording_CountFrames(rgRecording* r) {
    int64_t frames = INT64_MAX;
    int64_t contacts = INT64_MAX;
    for (int i = 0; i < rg_columnCount; ++i) {
        int64_t rows = rgRecording_OpenColumn(r, i);
        if (i < rg_columnFirstOfContact) {
            frames = RG_MIN(frames, rows);
        } else {
            contacts = RG_MIN(contacts, rows);
        }
    }
    while (r->h5.result == rg_ok && frames > 0 &&
           rgRecording_ContactEnd(r, frames - 1) > (uint64_t)contacts) {
        frames -= 1;
    }
    r->info.frameCount = r->h5.result == rg_ok ? frames : 0;
    r->info.contactCount = (int64_t)rgRecording_ContactEnd(r, r->info.frameCount - 1);
    r->info.qCount = r->width[rg_columnQ];
    r->info.vCount = r->width[rg_columnV];
    r->info.controlCount = r->width[rg_columnControl];
    r->info.activationCount = r->width[rg_columnActivation];
    r->info.sensorCount = r->width[rg_columnSensors];
    r->info.kinematicCount = r->width[rg_columnKinematic] / RG_POSE_NUMBERS;
    if (r->h5.result == rg_ok && r->width[rg_columnKinematic] % RG_POSE_NUMBERS != 0) {
        rgH5_Fail(&r->h5, rg_errorFormat, "%s does not contain poses of %d numbers",
                  rgColumns[rg_columnKinematic].name, RG_POSE_NUMBERS);
    }
}

static void rgRecording_ReadHead(rgRecording* r) {
    rgRecording_CheckFormat(r);
    r->title = rgRecording_ReadText(r, "run/title");
    r->arguments = rgRecording_ReadText(r, "run/arguments");
    r->mjcf = rgRecording_ReadText(r, "model/mjcf");
    r->scene = rgRecording_ReadText(r, "model/scene");
    double* dt = rgH5_ReadNumbers(&r->h5, "run/time_step", 1);
    int interval = rgH5_ReadInt(&r->h5, "run/interval");
    int revision = rgH5_Has(&r->h5, "revision") ? rgH5_ReadInt(&r->h5, "revision") : 0;
    r->info = (rgRecordingInfo){.title = r->title,
                                .mjcf = r->mjcf,
                                .scene = r->scene,
                                .arguments = r->arguments,
                                .timeStep = dt != NULL ? dt[0] : 0,
                                .interval = interval,
                                .revision = revision,
                                .isComplete = !r->h5.isGrowing};
    if (r->h5.result == rg_ok && (!(dt[0] > 0) || interval < 1)) {
        rgH5_Fail(&r->h5, rg_errorFormat, "run/time_step and run/interval must be positive");
    }
    rgRelease(&r->allocator, dt);
}

rgResult rgLoadRecording(const char* path, const rgAllocator* allocator, rgDiagnostics* diagnostics,
                         rgRecording** recording) {
    if (path == NULL || recording == NULL) {
        return rg_errorArgument;
    }
    rgRecording* r = rgAllocate(allocator, 1, sizeof(rgRecording));
    char* copy = rgCopyString(allocator, path);
    if (r == NULL || copy == NULL) {
        rgRelease(allocator, r);
        rgRelease(allocator, copy);
        return rg_errorMemory;
    }
    r->allocator = rgResolveAllocator(allocator);
    r->path = copy;
    r->blockFirst = -1;
    for (int i = 0; i < rg_columnCount; ++i) {
        r->dataset[i] = -1;
    }
    rgH5_OpenRead(&r->h5, r->path, &r->allocator, diagnostics);
    rgRecording_ReadHead(r);
    rgRecording_CountFrames(r);
    rgResult result = r->h5.result;
    if (result != rg_ok) {
        rgDestroyRecording(r);
        return result;
    }
    *recording = r;
    return rg_ok;
}

void rgDestroyRecording(rgRecording* recording) {
    if (recording == NULL) {
        return;
    }
    rgAllocator allocator = recording->allocator;
    for (int i = 0; i < rg_columnCount; ++i) {
        if (recording->dataset[i] >= 0) {
            H5Dclose(recording->dataset[i]);
        }
        rgRelease(&allocator, recording->cells[i]);
    }
    rgH5_Close(&recording->h5);
    rgRelease(&allocator, recording->contacts);
    rgRelease(&allocator, recording->title);
    rgRelease(&allocator, recording->mjcf);
    rgRelease(&allocator, recording->scene);
    rgRelease(&allocator, recording->arguments);
    rgRelease(&allocator, recording->path);
    rgRelease(&allocator, recording);
}

rgRecordingInfo rgRecording_Info(const rgRecording* recording) {
    return recording != NULL ? recording->info : (rgRecordingInfo){0};
}

// ---- frames ----

static rgVec3 rgGetVec(const void* cells, size_t row) {
    const float* v = (const float*)cells + 3 * row;
    return rgVec((double)v[0], (double)v[1], (double)v[2]);
}

static void rgRecording_UnpackContacts(rgRecording* r, size_t count) {
    for (size_t i = 0; i < count; ++i) {
        const int32_t* bodies = (const int32_t*)r->cells[rg_columnBodies] + 2 * i;
        const int32_t* shapes = (const int32_t*)r->cells[rg_columnShapes] + 2 * i;
        r->contacts[i] = (rgRecordedContact){
            .bodyA = {bodies[0]},
            .bodyB = {bodies[1]},
            .shapeA = {shapes[0]},
            .shapeB = {shapes[1]},
            .feature = ((const uint32_t*)r->cells[rg_columnFeature])[i],
            .point = rgGetVec(r->cells[rg_columnPoint], i),
            .normal = rgGetVec(r->cells[rg_columnNormal], i),
            .force = rgGetVec(r->cells[rg_columnForce], i),
            .gap = (double)((const float*)r->cells[rg_columnGap])[i],
            .mu = (double)((const float*)r->cells[rg_columnMu])[i],
            .state = (rgContactState)((const uint8_t*)r->cells[rg_columnState])[i],
        };
    }
}

// Ends of contacts must rise and stay below the total, or a damaged file would lead astray.
static bool rgRecording_CheckEnds(rgRecording* r, uint64_t before, int64_t count) {
    const uint64_t* ends = r->cells[rg_columnContactEnd];
    for (int64_t i = 0; i < count; ++i) {
        if (ends[i] < before || ends[i] > (uint64_t)r->info.contactCount) {
            rgH5_Fail(&r->h5, rg_errorFormat, "frames/contact_end does not rise: damaged");
            return false;
        }
        before = ends[i];
    }
    return true;
}

static rgResult rgRecording_LoadBlock(rgRecording* r, int64_t first) {
    int64_t count = RG_MIN(r->info.frameCount - first, (int64_t)rg_blockFrames);
    uint64_t before = rgRecording_ContactEnd(r, first - 1);
    r->blockFirst = -1;
    for (int i = 0; i < rg_columnFirstOfContact; ++i) {
        rgRecording_ReadCells(r, i, first, count);
    }
    if (r->h5.result != rg_ok || !rgRecording_CheckEnds(r, before, count)) {
        return r->h5.result;
    }
    uint64_t contacts = ((const uint64_t*)r->cells[rg_columnContactEnd])[count - 1] - before;
    for (int i = rg_columnFirstOfContact; i < rg_columnCount; ++i) {
        rgRecording_ReadCells(r, i, (int64_t)before, (int64_t)contacts);
    }
    if (r->h5.result == rg_ok &&
        (contacts > INT32_MAX / 2 ||
         rgReserve(&r->allocator, (void**)&r->contacts, &r->contactCapacity, 0, (int)contacts,
                   sizeof(rgRecordedContact)) != rg_ok)) {
        rgH5_Fail(&r->h5, rg_errorMemory, "no memory for contacts");
    }
    if (r->h5.result == rg_ok) {
        rgRecording_UnpackContacts(r, (size_t)contacts);
        r->blockFirst = first;
        r->blockCount = count;
        r->contactFirst = before;
    }
    return r->h5.result;
}

static const double* rgRecording_Row(const rgRecording* r, rgColumn column, size_t row) {
    return r->dataset[column] >= 0 && r->width[column] > 0
               ? (const double*)r->cells[column] + row * (size_t)r->width[column]
               : NULL;
}

static void rgRecording_FillFrame(const rgRecording* r, size_t row, rgRecordedFrame* frame) {
    const uint64_t* ends = r->cells[rg_columnContactEnd];
    uint64_t begin = row > 0 ? ends[row - 1] : r->contactFirst;
    const double* energy = rgRecording_Row(r, rg_columnEnergy, row);
    *frame = (rgRecordedFrame){
        .time = *rgRecording_Row(r, rg_columnTime, row),
        .q = rgRecording_Row(r, rg_columnQ, row),
        .v = rgRecording_Row(r, rg_columnV, row),
        .control = rgRecording_Row(r, rg_columnControl, row),
        .activation = rgRecording_Row(r, rg_columnActivation, row),
        .sensors = rgRecording_Row(r, rg_columnSensors, row),
        .kinematic = (const rgPose*)(const void*)rgRecording_Row(r, rg_columnKinematic, row),
        .residual = *rgRecording_Row(r, rg_columnResidual, row),
        .iterationCount = ((const int32_t*)r->cells[rg_columnIterations])[row],
        .status = (rgContactStatus)((const uint8_t*)r->cells[rg_columnStatus])[row],
        .regularizedRows = ((const int32_t*)r->cells[rg_columnRegularized])[row],
        .kineticEnergy = energy[0],
        .potentialEnergy = energy[1],
        .gravity = ((const rgVec3*)r->cells[rg_columnGravity])[row],
        .hash = ((const uint64_t*)r->cells[rg_columnHash])[row],
        .contactCount = (int)(ends[row] - begin),
        .contacts = ends[row] > begin ? r->contacts + (begin - r->contactFirst) : NULL,
    };
    for (int i = 0; i < rg_stageCount; ++i) {
        frame->stageSeconds[i] =
            (double)((const float*)r->cells[rg_columnStages])[row * rg_stageCount + (size_t)i];
    }
}

rgResult rgRecording_Frame(rgRecording* recording, int64_t index, rgRecordedFrame* frame) {
    if (recording == NULL || frame == NULL || index < 0 || index >= recording->info.frameCount) {
        return rg_errorArgument;
    }
    bool isLoaded = recording->blockFirst >= 0 && index >= recording->blockFirst &&
                    index < recording->blockFirst + recording->blockCount;
    rgResult result = isLoaded ? rg_ok : rgRecording_LoadBlock(recording, index);
    if (result == rg_ok) {
        rgRecording_FillFrame(recording, (size_t)(index - recording->blockFirst), frame);
    }
    return result;
}
