// Common to the parts of the viewer: bytes for the page.
#pragma once
#include "base/base.h"
#include "rigor/view.h"

#define RG_COOKIE_PAGE   0x72677067u
#define RG_COOKIE_VIEWER 0x72677677u

// The page, compressed with gzip; empty when it was not built. Made by cmake/embed_page.cmake.
extern const unsigned char rgPageBytes[];
extern const size_t rgPageByteCount;

// Growing bytes.
typedef struct rgBytes {
    rgAllocator allocator;
    unsigned char* data;
    size_t size, capacity;
    bool failed;
} rgBytes;

void* rgBytes_Add(rgBytes* bytes, const void* data, size_t count); // NULL data: zeros
void rgBytes_Free(rgBytes* bytes);

// ---- pack.c ----

// A model, and with a recording its frames, as the page reads them (web/src/data.ts).
rgResult rgPackRecording(rgRecording* recording, const rgPageDef* def, rgBytes* out);
// The recording and its ghost, each packed and compressed; no ghost leaves its bytes empty.
rgResult rgPackPage(rgRecording* recording, const rgPageDef* def, rgBytes* data, rgBytes* ghost);
rgResult rgPackModel(const rgModel* model, const char* title, double timeStep, rgBytes* out);

// ---- gzip.c ----

rgResult rgCompress(const void* data, size_t size, rgBytes* out);   // gzip
rgResult rgDecompress(const void* data, size_t size, rgBytes* out); // gzip

// ---- frame.c ----

typedef struct rgFrameNotes {
    double realTime;
    bool isPaused, isStopped;
    int generation; // generation of the model
} rgFrameNotes;

// One server-sent event with a frame of a running world.
rgResult rgPackFrame(const rgWorld* world, const rgStepReport* report, const rgFrameNotes* notes,
                     rgBytes* scratch, rgBytes* event);

// ---- command.c ----

// Parse a command from JSON; returns NULL or the error.
const char* rgReadCommand(const char* text, size_t size, rgViewerCommand* command);
