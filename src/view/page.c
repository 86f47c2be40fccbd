// Pages that play a recording by themselves: the page with the data inside.
#include "io/file.h"
#include "record/record.h"
#include "view/view.h"

#include <stdio.h>
#include <string.h>

bool rgHasPage(void) {
    return rgPageByteCount > 0;
}

static const char* rgFindMark(const rgBytes* page, const char* mark) {
    size_t length = strlen(mark);
    for (size_t i = 0; i + length <= page->size; ++i) {
        if (page->data[i] == '<' && memcmp(page->data + i, mark, length) == 0) {
            return (const char*)page->data + i;
        }
    }
    return NULL;
}

// The page up to the mark, the data as base64 of gzip, the rest of the page.
static bool rgWritePage(FILE* file, const rgBytes* page, const rgBytes* data) {
    static const char mark[] = "<!--rigor-data-->";
    static const char open[] = "<script id=\"rigor-data\" type=\"text/plain\">";
    static const char close[] = "</script>";
    const char* at = rgFindMark(page, mark);
    if (at == NULL) {
        return false;
    }
    size_t before = (size_t)(at - (const char*)page->data);
    const char* rest = at + strlen(mark);
    size_t after = page->size - before - strlen(mark);
    fwrite(page->data, 1, before, file);
    fputs(open, file);
    for (size_t i = 0; i < data->size; i += 3 * 256) {
        char line[4 * 256 + 1];
        size_t count = RG_MIN(data->size - i, (size_t)(3 * 256));
        size_t length = rgEncodeBase64(data->data + i, count, line);
        fwrite(line, 1, length, file);
    }
    fputs(close, file);
    fwrite(rest, 1, after, file);
    return ferror(file) == 0;
}

static rgResult rgMakeData(rgRecording* recording, const rgPageDef* def, rgBytes* page,
                           rgBytes* data) {
    rgBytes packed = {0};
    rgResult result = rgPackRecording(recording, def, &packed);
    if (result == rg_ok) {
        result = rgCompress(packed.data, packed.size, data);
    }
    if (result == rg_ok) {
        result = rgDecompress(rgPageBytes, rgPageByteCount, page);
    }
    rgBytes_Free(&packed);
    return result;
}

rgResult rgRecording_SavePage(rgRecording* recording, const rgPageDef* def, const char* path,
                              rgDiagnostics* diagnostics) {
    rgPageDef usual = rgDefaultPageDef();
    const rgPageDef* used = def != NULL ? def : &usual;
    if (recording == NULL || path == NULL || used->cookie != RG_COOKIE_PAGE ||
        !(used->framesPerSecond >= 0)) {
        return rg_errorArgument;
    }
    if (!rgHasPage()) {
        rgDiagnostics_Add(diagnostics, rg_severityError, path, 0,
                          "rigor was built without the viewer's page, which takes Node and npm");
        return rg_errorUnsupported;
    }
    rgBytes page = {0}, data = {0};
    rgResult result = rgMakeData(recording, used, &page, &data);
    rgNewFile made;
    result = result == rg_ok ? rgNewFile_Open(&made, path, diagnostics) : result;
    if (result == rg_ok) {
        result = rgNewFile_Close(&made, rgWritePage(made.file, &page, &data), diagnostics);
    }
    rgBytes_Free(&page);
    rgBytes_Free(&data);
    return result;
}
