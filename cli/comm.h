// Processes that share a job: one alone in rigor, the ranks of MPI in rigor-mpi.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct rgComm rgComm;

struct rgComm {
    int rank, size;
    // Every rank calls these together.
    bool (*agree)(rgComm* comm, bool good);     // true if `good` is true on all ranks
    bool (*same)(rgComm* comm, uint64_t value); // true if all ranks have the value of rank 0
    void (*sum)(rgComm* comm, double* values, int count);  // over all ranks, to all
    void (*most)(rgComm* comm, double* values, int count); // largest over all ranks, to all
    // To rank 0: takes the bytes of each rank, in the order of the ranks.
    void (*gather)(rgComm* comm, const void* bytes, size_t count,
                   void (*take)(int rank, const void* bytes, size_t count, void* context),
                   void* context);
    // At any time: so much more is done here. Gives rank 0 all that it knows of.
    int64_t (*report)(rgComm* comm, int64_t done);
    void (*mute)(rgComm* comm, bool on); // discard stderr of all ranks but the first
    int64_t reported;
};

rgComm rgCommAlone(void);

// The verbs that can be shared.
int rgRollout(rgComm* comm, int argc, char** argv);
int rgSolve(rgComm* comm, int argc, char** argv);
