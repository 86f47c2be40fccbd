// Torques that press an arm's tool against a wall with 20 N and hold it there.
// Should show: the simulation of these torques has 20 N at the wall, and nothing moves.
#include <math.h>
#include <rigor/rigor.h>
#include <stdio.h>

int main(void) {
    rgModel* model = NULL;
    rgWorld* world = NULL;
    if (rgLoadModel("arm_wall", NULL, NULL, &model) != rg_ok ||
        rgCreateWorld(model, NULL, NULL, &world) != rg_ok) {
        return 1;
    }
    rgWorld_Reset(world, rgModel_FindKey(model, "home"));
    rgInverseDef inverse = rgDefaultInverseDef();
    inverse.start = rg_startForce;
    inverse.normalForce = 20;
    const double still[6] = {0};
    rgInverseResult result;
    if (rgWorld_Inverse(world, &inverse, still, &result) != rg_ok ||
        result.status != rg_inverseSolved) {
        return 1;
    }
    rgWorld_SetForce(world, result.force);
    rgWorld_Step(world, NULL);
    const rgContact* contact = rgWorld_Contacts(world, NULL);
    double normal = rgDot(contact->force, contact->normal);
    double energy = rgWorld_KineticEnergy(world);
    printf("normal force %.6f N, expected 20; kinetic energy %.1e J\n", normal, energy);
    rgDestroyWorld(world);
    rgDestroyModel(model);
    return fabs(normal - 20) < 1e-4 && energy < 1e-12 ? 0 : 1;
}
