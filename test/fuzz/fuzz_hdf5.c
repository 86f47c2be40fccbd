// Bytes as changes to an FCLIB file, a recording or a file of results, made through HDF5 itself:
// datasets that go, or become others with another type, shape and content. libhdf5 reads what it
// wrote; what is tried is our layer above it: a file is read, or refused with a remark.
#include "fuzz.h"

#include "rigor/fclib.h"
#include "rigor/record.h"
#include "rigor/results.h"
#include "rigor/view.h"

#include <hdf5.h>
#include <stdio.h>
#include <unistd.h>

enum { rg_kinds = 5, rg_mostPaths = 64, rg_mostNumbers = 64 };

typedef struct rgSeed {
    uint8_t* bytes;
    size_t size;
    int pathCount;
    char paths[rg_mostPaths][64]; // of all groups and datasets
} rgSeed;

static void rgWriteFile(const char* path, const void* bytes, size_t size) {
    FILE* file = fopen(path, "wb");
    RG_PROMISE(file != NULL && fwrite(bytes, 1, size, file) == size && fclose(file) == 0);
}

static herr_t rgNotePath(hid_t group, const char* name, const H5O_info_t* info, void* context) {
    rgSeed* seed = context;
    (void)group;
    (void)info;
    if (seed->pathCount < rg_mostPaths && strcmp(name, ".") != 0) {
        snprintf(seed->paths[seed->pathCount++], sizeof(seed->paths[0]), "%s", name);
    }
    return 0;
}

static void rgKeepSeed(const char* path, rgSeed* seed) {
    FILE* file = fopen(path, "rb");
    RG_PROMISE(file != NULL && fseek(file, 0, SEEK_END) == 0);
    seed->size = (size_t)ftell(file);
    seed->bytes = malloc(seed->size);
    rewind(file);
    RG_PROMISE(fread(seed->bytes, 1, seed->size, file) == seed->size);
    fclose(file);
    hid_t opened = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    RG_PROMISE(opened >= 0 && H5Ovisit(opened, H5_INDEX_NAME, H5_ITER_INC, rgNotePath, seed) >= 0);
    H5Fclose(opened);
}

// ---- good files

static void rgMakeFclib(const char* path, int kind) {
    static const double G[36] = {2, 0, 0, 1, 0, 0, 0, 2, 0, 0, 1, 0, 0, 0, 2, 0, 0, 1,
                                 1, 0, 0, 2, 0, 0, 0, 1, 0, 0, 2, 0, 0, 0, 1, 0, 0, 2};
    static const double g[6] = {1, 0, -1, 0, 0.5, -1}, eye[6] = {1, 1, 1, 1, 1, 1};
    static const int start[] = {0, 1, 2, 3, 4, 5, 6}, column[] = {0, 1, 2, 3, 4, 5};
    rgBlock blocks[2] = {{.kind = rg_blockCoulomb, .rowCount = 3, .mu = 0.5},
                         {.kind = rg_blockCoulomb, .firstRow = 3, .rowCount = 3, .mu = 0.3}};
    if (kind == 2) { // not FCLIB's: the group of our own
        blocks[1] =
            (rgBlock){.kind = rg_blockBox, .firstRow = 3, .rowCount = 3, .lower = -1, .upper = 1};
    }
    rgContactProblem problem = {
        .rowCount = 6, .blockCount = 2, .blocks = blocks, .freeVelocity = g};
    problem.delassus.matrix = G;
    if (kind == 1) {
        rgSparse unit = {6, 6, start, column, eye};
        problem.delassus =
            (rgDelassus){.kind = rg_delassusVelocity, .mass = unit, .jacobian = unit};
    }
    const int keys[] = {1, 2, 3, 4, 5, 6};
    rgFclibContent content = {
        .problem = &problem, .title = "title", .keys = keys, .solution = {g, g}};
    content.guesses = &content.solution;
    content.guessCount = 1;
    RG_PROMISE(rgSaveFclib(path, &content, NULL) == rg_ok);
}

static void rgMakeRecording(const char* path) {
    rgModelDef* def = NULL;
    rgModel* model = NULL;
    rgWorld* world = NULL;
    rgRecorder* recorder = NULL;
    rgStepReport report;
    RG_PROMISE(rgLoadModelDef("quadruped", NULL, NULL, &def) == rg_ok);
    RG_PROMISE(rgCompileModel(def, NULL, NULL, &model) == rg_ok);
    RG_PROMISE(rgCreateWorld(model, NULL, NULL, &world) == rg_ok);
    rgRecorderDef settings = rgDefaultRecorderDef();
    settings.path = path;
    settings.interval = 100;
    RG_PROMISE(rgCreateRecorder(&settings, world, NULL, &recorder) == rg_ok);
    for (int i = 0; i < 600; ++i) {
        RG_PROMISE(rgWorld_Step(world, &report) == rg_ok);
        RG_PROMISE(rgRecorder_Add(recorder, world, &report) == rg_ok);
    }
    rgDestroyRecorder(recorder);
    rgDestroyWorld(world);
    rgDestroyModel(model);
    rgDestroyModelDef(def);
}

static void rgMakeResults(const char* path) {
    const rgResultsArray arrays[] = {{"x", {2, 0}, false}, {"n", {0, 0}, true}};
    const rgResultsText texts[] = {{"plan", "text"}};
    rgResults* results = NULL;
    rgResultsDef def = rgDefaultResultsDef();
    def.rowCount = 3;
    def.arrays = arrays;
    def.arrayCount = 2;
    def.texts = texts;
    def.textCount = 1;
    def.overwrite = true;
    RG_PROMISE(rgCreateResults(path, &def, NULL, &results) == rg_ok);
    rgDestroyResults(results);
}

static void rgMakeSeeds(const char* path, rgSeed* seeds) {
    for (int kind = 0; kind < rg_kinds; ++kind) {
        if (kind < 3) {
            rgMakeFclib(path, kind);
        } else if (kind == 3) {
            rgMakeRecording(path);
        } else {
            rgMakeResults(path);
        }
        rgKeepSeed(path, &seeds[kind]);
    }
}

// ---- changes

static hid_t rgInput_Type(rgInput* in) {
    switch (rgInput_Below(in, 8)) {
    case 0:
    case 1:
    case 2:
        return H5T_NATIVE_DOUBLE;
    case 3:
    case 4:
        return H5T_NATIVE_INT;
    case 5:
        return H5T_NATIVE_FLOAT;
    case 6:
        return H5T_NATIVE_UINT64;
    default:
        return H5T_C_S1;
    }
}

// A dataset with numbers of the input, converted to its type.
static void rgPutDataset(rgInput* in, hid_t file, const char* path) {
    hsize_t extent[3];
    double numbers[rg_mostNumbers];
    char text[rg_mostNumbers] = "";
    int rank = rgInput_Below(in, 4);
    size_t total = 1;
    for (int i = 0; i < rank; ++i) {
        extent[i] = (hsize_t)rgInput_Below(in, 9);
        extent[i] = total * extent[i] > rg_mostNumbers ? 1 : extent[i];
        total *= extent[i];
    }
    hid_t type = rgInput_Type(in);
    for (size_t i = 0; i < total && i < rg_mostNumbers; ++i) {
        numbers[i] = type == H5T_NATIVE_DOUBLE ? rgInput_Number(in) : (int)rgInput_Byte(in) - 8;
        text[i] = (char)('a' + i % 26);
    }
    hid_t space = rank > 0 ? H5Screate_simple(rank, extent, NULL) : H5Screate(H5S_SCALAR);
    hid_t dataset = H5Dcreate2(file, path, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (dataset >= 0) {
        H5Dwrite(dataset, type == H5T_C_S1 ? type : H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL,
                 H5P_DEFAULT, type == H5T_C_S1 ? (const void*)text : (const void*)numbers);
        H5Dclose(dataset);
    }
    H5Sclose(space);
}

static void rgChange(rgInput* in, hid_t file, const rgSeed* seed) {
    const char* path = seed->paths[rgInput_Byte(in) % (unsigned)seed->pathCount];
    unsigned what = rgInput_Byte(in);
    if (what < 192) {
        H5Ldelete(file, path, H5P_DEFAULT);
        if (what < 160) {
            rgPutDataset(in, file, path);
        }
        return;
    }
    hid_t dataset = H5Dopen2(file, path, H5P_DEFAULT);
    if (dataset < 0) {
        return;
    }
    if (what < 224) { // other rows
        hsize_t extent[H5S_MAX_RANK] = {0};
        hid_t space = H5Dget_space(dataset);
        if (H5Sget_simple_extent_ndims(space) > 0) {
            H5Sget_simple_extent_dims(space, extent, NULL);
            extent[0] = rgInput_Byte(in) % 12;
            H5Dset_extent(dataset, extent);
        }
        H5Sclose(space);
    } else { // one number
        hid_t space = H5Dget_space(dataset);
        hssize_t total = H5Sget_simple_extent_npoints(space);
        double* numbers = total > 0 && total < 4096 ? calloc((size_t)total, sizeof(double)) : NULL;
        if (numbers != NULL &&
            H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers) >= 0) {
            numbers[(rgInput_Byte(in) << 8 | rgInput_Byte(in)) % (unsigned)total] =
                rgInput_Number(in);
            H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers);
        }
        free(numbers);
        H5Sclose(space);
    }
    H5Dclose(dataset);
}

// ---- reading

static rgResult rgReadFclib(rgInput* in, const char* path, rgDiagnostics* said) {
    rgFclibProblem* problem = NULL;
    rgFclibDef def = rgDefaultFclibDef();
    def.matrix = (rgFclibMatrix)rgInput_Below(in, 4);
    rgResult result = rgLoadFclib(path, &def, said, &problem);
    RG_PROMISE((problem != NULL) == (result == rg_ok));
    if (problem != NULL) {
        const rgContactProblem* p = rgFclibProblem_Problem(problem);
        RG_PROMISE(rgContactProblem_Check(p, NULL) == rg_ok);
        rgFclibSolution solution = rgFclibProblem_Solution(problem);
        RG_PROMISE(solution.lambda == NULL || rgAllFinite(solution.lambda, p->rowCount));
        double* zero = calloc((size_t)p->rowCount + 1, sizeof(double));
        rgContactProblem_Residual(p, zero);
        free(zero);
    }
    rgDestroyFclibProblem(problem);
    return result;
}

static rgResult rgReadRecording(rgInput* in, const char* path, rgDiagnostics* said) {
    rgRecording* recording = NULL;
    rgResult result = rgLoadRecording(path, NULL, said, &recording);
    RG_PROMISE((recording != NULL) == (result == rg_ok));
    rgRecordingInfo info = rgRecording_Info(recording);
    for (int i = 0; recording != NULL && i < 4; ++i) {
        rgRecordedFrame frame;
        int64_t at = (int64_t)rgInput_Byte(in) % (info.frameCount + 1);
        rgResult read = rgRecording_Frame(recording, at, &frame);
        double sum = 0;
        for (int k = 0; read == rg_ok && k < frame.contactCount; ++k) {
            sum += frame.contacts[k].gap;
        }
        for (int k = 0; read == rg_ok && k < info.qCount; ++k) {
            sum += frame.q[k];
        }
        RG_PROMISE(sum == sum || sum != sum); // every number was read
    }
    if (recording != NULL && rgInput_Byte(in) < 32) {
        (void)!rgRecording_SavePage(recording, NULL, "/dev/null", said);
    }
    rgDestroyRecording(recording);
    return result;
}

static rgResult rgReadResults(const char* path, rgDiagnostics* said) {
    rgResults* results = NULL;
    rgResult result = rgOpenResults(path, false, said, &results);
    RG_PROMISE((results != NULL) == (result == rg_ok));
    int32_t status[3];
    if (results != NULL) {
        int64_t rows = rgResults_RowCount(results);
        (void)!rgResults_ReadStatus(results, 0, rows < 3 ? rows : 3, status, said);
        rgResults_Text(results, "plan");
    }
    for (int i = 0; results != NULL && i < rgResults_ArrayCount(results); ++i) {
        rgResultsArray array = rgResults_Array(results, i);
        double row[rg_mostNumbers];
        if ((array.extent[0] + 1) * (array.extent[1] + 1) <= rg_mostNumbers) {
            (void)!rgResults_Read(results, i, 0, 1, row, said);
        }
    }
    rgDestroyResults(results);
    return result;
}

int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t count) {
    static rgSeed seeds[rg_kinds];
    static char path[64];
    if (seeds[0].bytes == NULL) {
        H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
        snprintf(path, sizeof(path), "/dev/shm/rigor_fuzz_%ld.h5", (long)getpid());
        rgMakeSeeds(path, seeds);
    }
    rgInput in = {bytes, count};
    int kind = rgInput_Below(&in, rg_kinds);
    unsigned choices = rgInput_Byte(&in);
    rgWriteFile(path, seeds[kind].bytes, seeds[kind].size);
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    for (int i = 0; file >= 0 && i < 6 && in.left > 2; ++i) {
        rgChange(&in, file, &seeds[kind]);
    }
    if (file >= 0) {
        H5Fclose(file);
    }
    rgInput rest = {(const uint8_t*)&choices, sizeof(choices)};
    rgDiagnostics* said = NULL;
    RG_PROMISE(rgCreateDiagnostics(NULL, &said) == rg_ok);
    rgResult result = kind < 3    ? rgReadFclib(&rest, path, said)
                      : kind == 3 ? rgReadRecording(&rest, path, said)
                                  : rgReadResults(path, said);
    RG_PROMISE(result == rg_ok || rgDiagnostics_CountOf(said, rg_severityError) > 0);
    rgDestroyDiagnostics(said);
    unlink(path);
    return 0;
}
