// Trees that are asleep or disabled in a step; part of the state once the step is taken.
#pragma once
#include "world/contacts.h"

typedef struct rgSleep {
    double* asleep; // per tree, as state.asleep
    int treeCount;  // trees that may sleep; 0: sleep is no option
} rgSleep;

// Asleep or disabled in this step: rgWorld.sleeps, which becomes part of the state when
// the step is taken.
typedef enum rgPairRest {
    rg_pairAwake,
    rg_pairDormant, // two sleepers, or a sleeper and a collider at rest
    rg_pairWaking,  // a sleeper and a moving collider
} rgPairRest;

static inline bool rgSleep_LinkSleeps(const rgSleep* sleep, const rgModel* model, int link) {
    int tree = model->links[link].tree;
    return tree >= 0 && sleep->asleep[tree] != 0;
}

static inline bool rgSleep_LinkMoves(const rgSleep* sleep, const rgModel* model, int link) {
    return model->links[link].tree >= 0 && !rgSleep_LinkSleeps(sleep, model, link);
}

bool rgSleep_Create(rgSleep* sleep, rgHeap* heap, const rgModel* model);
void rgSleep_Plan(rgSleep* sleep, const rgWorldDef* def, const rgModel* model);
void rgSleep_Start(rgSleep* sleep, const rgState* state, const rgModel* model);
// State of a pair of colliders.
rgPairRest rgSleep_PairRest(const rgSleep* sleep, const rgKinematics* kinematics,
                            const rgContactSet* contacts, int a, int b);

static inline bool rgSleep_PairIsDormant(const rgSleep* sleep, const rgKinematics* kinematics,
                                         const rgContactSet* contacts, const rgPairMemory* pair) {
    return sleep->treeCount > 0 &&
           rgSleep_PairRest(sleep, kinematics, contacts, pair->a, pair->b) == rg_pairDormant;
}

// Wake trees that a moving body may touch. True: contacts must be found again.
bool rgWorld_WakeByContact(rgWorld* world);
int rgWorld_DormantContacts(const rgWorld* world);
// Copy the memory of a dormant pair to the next step. False: the pair is not dormant.
bool rgWorld_CopyDormant(rgWorld* world, rgPairMemory* pair);
// Trees that fall asleep after this step; writes the state.
void rgWorld_UpdateSleep(rgWorld* world);
void rgSleep_WakeLink(rgSleep* sleep, rgState* state, const rgModel* model, int link);
void rgSleep_WakeDof(rgSleep* sleep, rgState* state, const rgModel* model, int dof);
void rgSleep_WakeAll(rgSleep* sleep, rgState* state, const rgModel* model);
void rgSleep_WakeLoops(rgSleep* sleep, rgState* state, const rgModel* model, int link);
