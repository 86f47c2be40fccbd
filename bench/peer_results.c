// Engines that are faster or more accurate than rigor.
#include "peer_results.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void rgPeerResults_Add(rgPeerResults* rivals, const char* who, double own, double other,
                       const char* remark) {
    if (!(own > 0) || !(other > 0) || !isfinite(own) || !isfinite(other)) {
        return;
    }
    rivals->total += 1;
    if (other > own) {
        size_t used = strlen(rivals->text), room = sizeof(rivals->text) - used;
        double ratio = other / own;
        snprintf(rivals->text + used, room, "%s%s (%.*f times as fast%s%s)",
                 rivals->count > 0 ? ", " : "", who, ratio < 1.95 ? 2 : 1, ratio,
                 remark != NULL ? ", " : "", remark != NULL ? remark : "");
        rivals->count += 1;
    }
}

const char* rgPeerResults_Text(const rgPeerResults* rivals) {
    return rivals->count > 0 ? rivals->text : "none";
}
