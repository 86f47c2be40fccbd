// Bytes as a mesh: once as each format, and once with the format found from the content.
#include "fuzz.h"

#include "rigor/mesh.h"

#include <math.h>

// What rgMesh promises: indices in range, coordinates finite.
static void rgCheckMesh(const rgMesh* mesh) {
    rgMeshData data = rgMesh_Data(mesh);
    for (int i = 0; i < 3 * data.triangleCount; ++i) {
        RG_PROMISE(data.triangles[i] >= 0 && data.triangles[i] < data.vertexCount);
    }
    for (int i = 0; i < 3 * data.vertexCount; ++i) {
        RG_PROMISE(isfinite(data.vertices[i]));
    }
    bool flag = false;
    RG_PROMISE(rgMesh_IsClosed(mesh, &flag) == rg_ok);
    rgResult result = rgMesh_IsConvex(mesh, 1e-6, &flag);
    (void)result; // hulls of flat meshes may be refused
}

int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t count) {
    const rgMeshFormat formats[] = {rg_meshUnknown, rg_meshStl, rg_meshObj, rg_meshCollada,
                                    rg_meshMsh};
    for (int i = 0; i < 5; ++i) {
        rgDiagnostics* diagnostics = NULL;
        rgMesh* mesh = NULL;
        RG_PROMISE(rgCreateDiagnostics(NULL, &diagnostics) == rg_ok);
        rgResult result =
            rgParseMesh(bytes, count, formats[i], "nowhere/input", NULL, diagnostics, &mesh);
        RG_PROMISE((mesh != NULL) == (result == rg_ok));
        RG_PROMISE(result == rg_ok || rgDiagnostics_CountOf(diagnostics, rg_severityError) > 0);
        if (mesh != NULL) {
            rgCheckMesh(mesh);
        }
        rgDestroyMesh(mesh);
        rgDestroyDiagnostics(diagnostics);
    }
    return 0;
}
