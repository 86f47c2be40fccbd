// Scenes as text.
#include "scene_text.h"

#include "cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool rgPeerScene_Write(rgPeerScene* scene, const char* name, double timeStep, rgVec3 gravity,
                       const double* v, const char* bodies) {
    rgModelDef* def = NULL;
    rgDiagnostics* said = NULL;
    char* text = rgCli_Format("<mujoco><option timestep='%.17g' gravity='%.17g %.17g %.17g'/>"
                              "<default><geom friction='0.5 0 0'/></default>"
                              "<worldbody>%s</worldbody></mujoco>",
                              timeStep, gravity.x, gravity.y, gravity.z, bodies);
    rgCreateDiagnostics(NULL, &said);
    *scene = (rgPeerScene){0};
    bool good = rgParseMjcf(text, strlen(text), name, NULL, said, &def) == rg_ok;
    if (!good) {
        rgCli_PrintDiagnostics(said, stderr, false, false);
    }
    free(text);
    rgDestroyDiagnostics(said);
    return good && rgPeerScene_Create(scene, name, def, timeStep, NULL, v);
}

char* rgWriteWall(bool pyramid) {
    char* text = rgCli_CopyText("<geom type='plane' size='0 0 1'/>");
    for (int row = 0; row < 5; ++row) {
        int count = pyramid ? 5 - row : 3;
        for (int i = 0; i < count; ++i) {
            double x = (i - 0.5 * (count - 1)) * (pyramid ? 0.21 : 0.2);
            char* more = rgCli_Format(
                "%s<body name='cube_%d_%d' pos='%.17g 0 %.17g'><freejoint/><geom type='box' "
                "size='0.1 0.1 0.1' mass='%.17g'/></body>",
                text, row, i, x, 0.1 + 0.2 * row, pow(10, row));
            free(text);
            text = more;
        }
    }
    return text;
}
