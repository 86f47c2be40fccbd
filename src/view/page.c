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

// Gzip as base64 in a script of this id.
static void rgWriteData(FILE* file, const char* id, const rgBytes* data) {
    fprintf(file, "<script id=\"%s\" type=\"text/plain\">", id);
    for (size_t i = 0; i < data->size; i += 3 * 256) {
        char line[4 * 256 + 1];
        size_t count = RG_MIN(data->size - i, (size_t)(3 * 256));
        size_t length = rgEncodeBase64(data->data + i, count, line);
        fwrite(line, 1, length, file);
    }
    fputs("</script>", file);
}

// The page up to the mark, the data, the rest of the page.
static bool rgWritePage(FILE* file, const rgBytes* page, const rgBytes* data,
                        const rgBytes* ghost) {
    static const char mark[] = "<!--rigor-data-->";
    const char* at = rgFindMark(page, mark);
    if (at == NULL) {
        return false;
    }
    size_t before = (size_t)(at - (const char*)page->data);
    const char* rest = at + strlen(mark);
    size_t after = page->size - before - strlen(mark);
    fwrite(page->data, 1, before, file);
    rgWriteData(file, "rigor-data", data);
    if (ghost->size > 0) {
        rgWriteData(file, "rigor-ghost", ghost);
    }
    fwrite(rest, 1, after, file);
    return ferror(file) == 0;
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
                          "rigor was built without the viewer's page, which needs Node and npm");
        return rg_errorUnsupported;
    }
    rgBytes page = {0}, data = {0}, ghost = {0};
    rgResult result = rgPackPage(recording, used, &data, &ghost);
    result = result == rg_ok ? rgDecompress(rgPageBytes, rgPageByteCount, &page) : result;
    rgNewFile made;
    result = result == rg_ok ? rgNewFile_Open(&made, path, diagnostics) : result;
    if (result == rg_ok) {
        result = rgNewFile_Close(&made, rgWritePage(made.file, &page, &data, &ghost), diagnostics);
    }
    rgBytes_Free(&page);
    rgBytes_Free(&data);
    rgBytes_Free(&ghost);
    return result;
}
