// One process alone.
#include "comm.h"

static bool rgAlone_Agree(rgComm* comm, bool good) {
    (void)comm;
    return good;
}

static bool rgAlone_Same(rgComm* comm, uint64_t value) {
    (void)comm;
    (void)value;
    return true;
}

static void rgAlone_Combine(rgComm* comm, double* values, int count) {
    (void)comm;
    (void)values;
    (void)count;
}

static void rgAlone_Gather(rgComm* comm, const void* bytes, size_t count,
                           void (*take)(int rank, const void* bytes, size_t count, void* context),
                           void* context) {
    (void)comm;
    take(0, bytes, count, context);
}

static int64_t rgAlone_Report(rgComm* comm, int64_t done) {
    return comm->reported += done;
}

static void rgAlone_Mute(rgComm* comm, bool on) {
    (void)comm;
    (void)on;
}

rgComm rgCommAlone(void) {
    return (rgComm){.size = 1,
                    .agree = rgAlone_Agree,
                    .same = rgAlone_Same,
                    .sum = rgAlone_Combine,
                    .most = rgAlone_Combine,
                    .gather = rgAlone_Gather,
                    .report = rgAlone_Report,
                    .mute = rgAlone_Mute};
}
