// The program `rigor-mpi`: the verbs of rigor that can be spread over ranks, started by mpirun.
#include "cli.h"
#include "comm.h"

#include <cblas.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { rg_tagReport = 1, rg_tagGather };

static bool rgMpi_Agree(rgComm* comm, bool good) {
    (void)comm;
    int mine = good, all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
    return all != 0;
}

static bool rgMpi_Same(rgComm* comm, uint64_t value) {
    uint64_t first = value;
    MPI_Bcast(&first, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    return rgMpi_Agree(comm, first == value);
}

static void rgMpi_Sum(rgComm* comm, double* values, int count) {
    (void)comm;
    MPI_Allreduce(MPI_IN_PLACE, values, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void rgMpi_Most(rgComm* comm, double* values, int count) {
    (void)comm;
    MPI_Allreduce(MPI_IN_PLACE, values, count, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
}

static void rgMpi_Gather(rgComm* comm, const void* bytes, size_t count,
                         void (*take)(int rank, const void* bytes, size_t count, void* context),
                         void* context) {
    if (comm->rank > 0) {
        MPI_Send(bytes, (int)count, MPI_BYTE, 0, rg_tagGather, MPI_COMM_WORLD);
        return;
    }
    take(0, bytes, count, context);
    for (int rank = 1; rank < comm->size; ++rank) {
        MPI_Status status;
        int size = 0;
        MPI_Probe(rank, rg_tagGather, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_BYTE, &size);
        void* buffer = rgCli_Allocate((size_t)size + 1, 1);
        MPI_Recv(buffer, size, MPI_BYTE, rank, rg_tagGather, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        take(rank, buffer, (size_t)size, context);
        free(buffer);
    }
}

static int64_t rgMpi_Report(rgComm* comm, int64_t done) {
    if (comm->rank > 0) {
        MPI_Send(&done, 1, MPI_INT64_T, 0, rg_tagReport, MPI_COMM_WORLD);
        return 0;
    }
    comm->reported += done;
    for (int waiting = 1; waiting != 0;) {
        MPI_Status status;
        MPI_Iprobe(MPI_ANY_SOURCE, rg_tagReport, MPI_COMM_WORLD, &waiting, &status);
        if (waiting != 0) {
            int64_t more = 0;
            MPI_Recv(&more, 1, MPI_INT64_T, status.MPI_SOURCE, rg_tagReport, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
            comm->reported += more;
        }
    }
    return comm->reported;
}

// All ranks meet the same faults of the same input; one of them prints.
static void rgMpi_Mute(rgComm* comm, bool on) {
    static int kept = -1;
    if (comm->rank == 0 || on == (kept >= 0)) {
        return;
    }
    fflush(stderr);
    if (on) {
        int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
        kept = dup(STDERR_FILENO);
        dup2(nowhere, STDERR_FILENO);
        close(nowhere);
    } else {
        dup2(kept, STDERR_FILENO);
        close(kept);
        kept = -1;
    }
}

static const struct {
    const char* name;
    const char* summary;
    int (*run)(rgComm* comm, int argc, char** argv);
} verbs[] = {
    {"rollout", "simulate many worlds of a scene or a robot description", rgRollout},
    {"solve", "solve contact problems in FCLIB files", rgSolve},
};

// Help needs one rank only: it prints.
static bool rgAsksForHelp(int argc, char** argv) {
    bool asked = false;
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; ++i) {
        asked = asked || strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0;
    }
    return asked;
}

static int rgRunShared(rgComm* comm, int argc, char** argv) {
    bool asked = rgAsksForHelp(argc, argv);
    if (asked && comm->rank > 0) {
        return rg_exitDone;
    }
    int count = (int)(sizeof(verbs) / sizeof(verbs[0]));
    for (int i = 0; argc >= 2 && i < count; ++i) {
        if (strcmp(argv[1], verbs[i].name) == 0) {
            return verbs[i].run(comm, argc - 1, argv + 1);
        }
    }
    if (comm->rank == 0) {
        FILE* out = asked ? stdout : stderr;
        fprintf(out, "usage: mpirun -n RANKS rigor-mpi VERB [ARGUMENTS]\n\n");
        for (int i = 0; i < count; ++i) {
            fprintf(out, "  %-10s %s\n", verbs[i].name, verbs[i].summary);
        }
    }
    return asked ? rg_exitDone : rg_exitUsage;
}

int main(int argc, char** argv) {
    setvbuf(stderr, NULL, _IOLBF, BUFSIZ); // lines of ranks do not mix
    MPI_Init(&argc, &argv);
    rgComm comm = {.agree = rgMpi_Agree,
                   .same = rgMpi_Same,
                   .sum = rgMpi_Sum,
                   .most = rgMpi_Most,
                   .gather = rgMpi_Gather,
                   .report = rgMpi_Report,
                   .mute = rgMpi_Mute};
    MPI_Comm_rank(MPI_COMM_WORLD, &comm.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &comm.size);
    openblas_set_num_threads(1); // as in main.c
    int code = rgRunShared(&comm, argc, argv);
    // Progress that arrived too late to be shown.
    MPI_Barrier(MPI_COMM_WORLD);
    if (comm.rank == 0) {
        rgMpi_Report(&comm, 0);
    }
    MPI_Finalize();
    return code;
}
