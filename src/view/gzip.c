// gzip, in memory.
#include "view/view.h"

#include <string.h>
#include <zlib.h>

enum { rg_pieceBytes = 64 << 10, rg_gzipBits = 15 + 16 };

static bool rgGiveInput(z_stream* stream, const unsigned char** at, size_t* left) {
    if (stream->avail_in == 0) {
        size_t piece = RG_MIN(*left, (size_t)1 << 30);
        stream->next_in = (Bytef*)(uintptr_t)*at;
        stream->avail_in = (uInt)piece;
        *at += piece;
        *left -= piece;
    }
    return *left == 0; // no more comes
}

static rgResult rgRunStream(z_stream* stream, int (*run)(z_stream*, int), int last,
                            const void* data, size_t size, rgBytes* out) {
    const unsigned char* at = data;
    unsigned char piece[rg_pieceBytes];
    int state = Z_OK;
    while (state == Z_OK && !out->failed) {
        int flush = rgGiveInput(stream, &at, &size) ? last : Z_NO_FLUSH;
        stream->next_out = piece;
        stream->avail_out = sizeof(piece);
        state = run(stream, flush);
        rgBytes_Add(out, piece, sizeof(piece) - stream->avail_out);
    }
    return out->failed ? rg_errorMemory : state == Z_STREAM_END ? rg_ok : rg_errorFormat;
}

rgResult rgCompress(const void* data, size_t size, rgBytes* out) {
    z_stream stream = {0};
    if (deflateInit2(&stream, 6, Z_DEFLATED, rg_gzipBits, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
        return rg_errorMemory;
    }
    rgResult result = rgRunStream(&stream, deflate, Z_FINISH, data, size, out);
    deflateEnd(&stream);
    return result;
}

rgResult rgDecompress(const void* data, size_t size, rgBytes* out) {
    z_stream stream = {0};
    if (inflateInit2(&stream, rg_gzipBits) != Z_OK) {
        return rg_errorMemory;
    }
    rgResult result = rgRunStream(&stream, inflate, Z_NO_FLUSH, data, size, out);
    inflateEnd(&stream);
    return result;
}
