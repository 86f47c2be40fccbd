// Other people's solvers on our contact problems, in processes of their own.
//
// A process gets two arguments, a method and a file, and prints for each problem of the file a
// line: seconds (set-up and solve), iterations, 1 or 0 (whether its own test holds), n, and n
// impulses; or "none" for a problem that it does not take. A line "fault REASON" ends it. The file
// is binary, little endian: int32 number of problems, int32 iterations at most, double tolerance;
// for each problem int32 rows n and blocks m; per block int32 kind (0 Coulomb friction, 1 half
// line, 2 box, 3 free), first row and rows, and double mu, lower, upper; double g[n]; double G[n
// n], compliance included. Contacts have rows tangent, tangent, normal.
#pragma once
#include "rigor/contact.h"

typedef struct rgSolverPeer {
    const char* name;   // "Pinocchio"
    const char* method; // as typed: "ADMM"
    rgContactModel model;
} rgSolverPeer;

typedef struct rgSolverAnswer {
    double* lambda; // NULL: it did not take the problem; the caller frees it
    double seconds;
    int iterations;
    bool claimed; // its own test holds
} rgSolverAnswer;

extern const rgSolverPeer rgSolverPeers[];
extern const int rgSolverPeerCount;
const rgSolverPeer* rgFindSolverPeer(const char* name, const char* method);

// "1.2.3", or "not installed". The buffer holds it.
const char* rgSolverPeer_Version(const rgSolverPeer* peer, char* buffer, size_t size);

// Dense problems, cold. False with a reason when nothing was solved; answers can be freed either
// way.
bool rgSolverPeer_Solve(const rgSolverPeer* peer, const rgContactProblem** problems, int count,
                        double tolerance, int iterations, rgSolverAnswer* answers, char* fault,
                        size_t faultSize);
void rgSolverAnswers_Free(rgSolverAnswer* answers, int count);

// Solve every problem until the judge's residual is within the tolerance: with that tolerance
// first, then with tenths of it down to 1e-6 times it, since the tests of these solvers differ. Of
// each problem the first answer that the judge accepts is kept, else that of the first try;
// `claimed` and `first` (may be NULL) are true if the first try's own test and the judge held.
bool rgSolverPeer_SolveTruly(const rgSolverPeer* peer, const rgContactProblem** problems, int count,
                             double tolerance, int iterations, rgSolverAnswer* answers, bool* first,
                             char* fault, size_t faultSize);
