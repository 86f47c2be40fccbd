// Revision of a step by its v+: inactive contacts that close, gaps along curved paths, restitution
// that would add energy. docs/theory/step.md, "Passes".
#include "world/world.h"

// Contacts and gaps; *frees: v_free is another.
static unsigned rgReviseContacts(rgWorld* world, int pass, bool* frees) {
    *frees = rgContactSet_ReviseRolling(&world->contacts, &world->constraints, world->model);
    if (*frees) {
        return rg_reviseGaps;
    }
    if (world->contacts.inactiveCount == 0 && !world->contacts.mayCurve) {
        return 0;
    }
    rgKinematics_SetLinkVelocities(&world->kinematics, world->next.v);
    bool corrected = rgWorld_CorrectGaps(world, world->next.v, pass);
    bool closes =
        rgContactSet_Activate(&world->contacts, &world->kinematics, &world->settings, pass);
    return (corrected ? rg_reviseGaps : 0u) | (closes ? rg_reviseContacts : 0u);
}

bool rgRevise(rgStep* step) {
    rgWorld* world = step->world;
    if (step->result != rg_ok) {
        return false;
    }
    int pass = ++step->pass;
    // Only restitution is revised at the bounds of a step, for the last time.
    bool last = pass >= RG_MOST_PASSES ||
                (pass > 1 && step->factorizationCount >= RG_MOST_FACTORIZATIONS / 2);
    rgWorld_StorePassImpulses(world);
    bool jams = rgWorld_StopRebounds(world, &step->report->contact);
    unsigned why = jams   ? rg_reviseRestitution
                   : last ? 0
                          : rgReviseContacts(world, pass, &step->movesFreely);
    if (why != 0) {
        world->constraints.restitutionPass = 0; // islands may be others
    } else if (rgReviseRestitution(world, last)) {
        why = rg_reviseRestitution;
    }
    if (why == 0) {
        world->constraints.restitutionPass = 0;
    }
    step->resumes = why == rg_reviseContacts; // the same problem with more contacts
    step->report->revisions |= (int)why;
    step->report->passCount = pass;
    return why != 0;
}
