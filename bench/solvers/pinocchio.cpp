// Pinocchio's contact solvers on the problems of solver_peer.h: rigor-bench-pinocchio METHOD FILE.
// Problems are made dimensionless first (G over its mean diagonal, g over its largest number), as
// tolerances there are absolute; "preconditioned" also scales each contact by its own diagonal, and
// "rho kept" starts from the penalty of the problem before, as from step to step of a simulation.
// The least CPU time of a few calls counts, each from zero impulses.
#include "problems.h"

#include <pinocchio/algorithm/delassus-operator.hpp>
#include <pinocchio/algorithm/solvers/admm-solver.hpp>
#include <pinocchio/algorithm/solvers/pgs-solver.hpp>
#include <pinocchio/config.hpp>
#include <pinocchio/multibody.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <ctime>
#include <limits>
#include <vector>

namespace {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;
using Contact = pinocchio::PointContactConstraintModelTpl<double, 0>;
using Delassus = pinocchio::DelassusOperatorDenseTpl<double, 0>;

double now() {
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

struct Scaled {
    Matrix G;
    Vector g, scale; // impulses are scale times what the solver finds
    double mass;     // that G was divided by
};

Scaled makeDimensionless(const rgPeerProblem& problem, bool precondition) {
    using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    Scaled made;
    made.G = Eigen::Map<const RowMajor>(problem.G, problem.n, problem.n);
    made.g = Eigen::Map<const Vector>(problem.g, problem.n);
    Vector d = Vector::Ones(problem.n);
    for (int i = 0; precondition && i < problem.contacts; ++i) {
        double mean = made.G.diagonal().segment<3>(3 * i).mean();
        d.segment<3>(3 * i).setConstant(mean > 0 ? 1 / std::sqrt(mean) : 1);
    }
    made.G = d.asDiagonal() * made.G * d.asDiagonal();
    made.g = d.cwiseProduct(made.g);
    double mass = made.G.diagonal().mean(), speed = made.g.lpNorm<Eigen::Infinity>();
    mass = mass > 0 ? mass : 1;
    speed = speed > 0 ? speed : 1;
    made.G /= mass;
    made.g /= speed;
    made.scale = d * (speed / mass);
    made.mass = mass;
    return made;
}

template <class Solver, class Settings, class Result>
Result solveOne(const rgPeerProblem& problem, const Scaled& scaled, const Settings& settings) {
    static const pinocchio::Model model = [] {
        pinocchio::Model one;
        one.addJoint(0, pinocchio::JointModelFreeFlyer(), pinocchio::SE3::Identity(), "body");
        return one;
    }();
    std::vector<Contact> contacts;
    std::vector<Contact::ConstraintData> datas;
    for (int i = 0; i < problem.contacts; ++i) {
        contacts.emplace_back(model, pinocchio::JointIndex(1));
        contacts.back().setFriction(problem.mu[i]);
        datas.emplace_back(contacts.back().createData());
    }
    double least = std::numeric_limits<double>::infinity(), spent = 0;
    Result result;
    for (int turn = 0; turn < 3 && spent < 0.2; ++turn) {
        double begin = now();
        Delassus delassus(scaled.G);
        Solver solver(static_cast<std::size_t>(problem.n));
        result = Result();
        solver.solve(delassus, scaled.g, contacts, datas, settings, result);
        double took = now() - begin;
        least = std::min(least, took);
        spent += took;
    }
    Vector impulses(problem.n);
    result.retrieveConstraintImpulses(impulses);
    impulses = scaled.scale.cwiseProduct(impulses);
    rgPrintAnswer(least, static_cast<int>(result.iterations), result.converged ? 1 : 0, problem.n,
                  impulses.data());
    return result;
}

template <class Settings> Settings makeSettings(const rgPeerProblems& all) {
    Settings settings;
    settings.max_iterations = static_cast<std::size_t>(all.iterations);
    settings.absolute_feasibility_tol = all.tolerance;
    settings.absolute_complementarity_tol = all.tolerance;
    settings.relative_feasibility_tol = all.tolerance;
    settings.relative_complementarity_tol = all.tolerance;
    return settings;
}

} // namespace

int main(int argc, char** argv) {
    if (argc == 2 && std::strcmp(argv[1], "version") == 0) {
        std::printf("%s\n", PINOCCHIO_VERSION);
        return 0;
    }
    if (argc != 3) {
        std::printf("fault rigor-bench-pinocchio METHOD FILE\n");
        return 2;
    }
    const char* method = argv[1];
    bool pgs = std::strncmp(method, "PGS", 3) == 0;
    auto all = rgReadProblems(argv[2]);
    auto admm = makeSettings<pinocchio::ADMMSolverSettingsTpl<double>>(all);
    auto sweeps = makeSettings<pinocchio::PGSSolverSettingsTpl<double>>(all);
    admm.admm_update_rule = std::strcmp(method, "ADMM spectral") == 0
                                ? pinocchio::ADMMUpdateRule::SPECTRAL
                                : admm.admm_update_rule;
    sweeps.over_relaxation = std::strcmp(method, "PGS over-relaxed") == 0 ? 1.3 : 1;
    bool precondition = std::strstr(method, "preconditioned") != nullptr;
    bool keep = std::strstr(method, "rho kept") != nullptr;
    double kept =
        std::numeric_limits<double>::quiet_NaN(); // penalty of the last problem, in its unit
    for (int i = 0; i < all.count; ++i) {
        const rgPeerProblem& problem = all.problems[i];
        if (problem.contacts == 0) {
            std::printf("none\n");
            continue;
        }
        Scaled scaled = makeDimensionless(problem, precondition);
        try {
            if (pgs) {
                solveOne<pinocchio::PGSConstraintSolverTpl<double, 0>,
                         pinocchio::PGSSolverSettingsTpl<double>,
                         pinocchio::PGSSolverResultTpl<double, 0>>(problem, scaled, sweeps);
            } else {
                if (keep && std::isfinite(kept)) {
                    admm.rho_init = std::clamp(kept / scaled.mass, admm.rho_min, admm.rho_max);
                }
                auto found =
                    solveOne<pinocchio::ADMMConstraintSolverTpl<double, 0>,
                             pinocchio::ADMMSolverSettingsTpl<double>,
                             pinocchio::ADMMSolverResultTpl<double, 0>>(problem, scaled, admm);
                kept = found.rho * scaled.mass;
            }
        } catch (const std::exception&) {
            std::printf("none\n");
        }
    }
    return 0;
}
