// A row of dominoes from the scenes that come with the library; the first is pushed.
// Should show: all of them fall, one after the other, at a constant speed of the wave.
#include <math.h>
#include <rigor/rigor.h>
#include <stdio.h>

int main(void) {
    enum { most = 64 };
    const rgSceneInfo* scene = rgFindScene("domino");
    rgModelDef* def = NULL;
    rgModel* model = NULL;
    rgWorld* world = NULL;
    if (rgBuildScene(scene, NULL, NULL, &def) != rg_ok ||
        rgCompileModel(def, NULL, NULL, &model) != rg_ok ||
        rgCreateWorld(model, NULL, NULL, &world) != rg_ok) {
        return 1;
    }
    rgScene_Start(scene, world);
    int count = rgModel_Info(model).bodyCount, fallen = 0;
    double times[most] = {0};
    while (rgWorld_Time(world) < scene->duration) {
        rgScene_Act(scene, world);
        rgWorld_Step(world, NULL);
        for (int i = 0; i < count && i < most; ++i) {
            rgQuat q = rgWorld_BodyPose(world, (rgBodyId){i + 1}).q;
            if (times[i] == 0 && rgRotate(q, rgVec(0, 0, 1)).z < 0.9) {
                times[i] = rgWorld_Time(world);
                ++fallen;
            }
        }
    }
    double first = (times[12] - times[7]) / 5, second = (times[17] - times[12]) / 5;
    printf("%d of %d dominoes fell, one every %.1f ms (later every %.1f ms)\n", fallen, count,
           1e3 * first, 1e3 * second);
    rgDestroyWorld(world);
    rgDestroyModel(model);
    rgDestroyModelDef(def);
    return fallen == count && fabs(first - second) < 0.15 * first ? 0 : 1;
}
