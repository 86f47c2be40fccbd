// Pinocchio's rigid-body algorithms on a robot: rigor-bench-pinocchio-dynamics FILE.xml ROUNDS
// Q..., with the configuration in MuJoCo's order. Writes the trace of the mass matrix there, which
// says whether the robot is the same, then the least times of a call [us] in the order of
// measure/dynamics.c. Velocities, accelerations and torques are random.
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/cholesky.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/joint-configuration.hpp>
#include <pinocchio/algorithm/kinematics.hpp>
#include <pinocchio/algorithm/rnea.hpp>
#include <pinocchio/multibody.hpp>
#include <pinocchio/parsers/mjcf.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

namespace {

using Vector = Eigen::VectorXd;

double now() {
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return 1e6 * static_cast<double>(time.tv_sec) + 1e-3 * static_cast<double>(time.tv_nsec);
}

double least(int rounds, const std::function<void()>& run) {
    constexpr int batch = 50;
    double best = std::numeric_limits<double>::infinity();
    for (int round = 0; round < rounds; ++round) {
        double begin = now();
        for (int i = 0; i < batch; ++i) {
            run();
        }
        best = std::min(best, (now() - begin) / batch);
    }
    return best;
}

int measure(const char* file, int rounds, const std::vector<double>& given) {
    pinocchio::Model model;
    pinocchio::mjcf::buildModel(file, model);
    if (static_cast<int>(given.size()) != model.nq) {
        std::fprintf(stderr, "%s: %d coordinates, not %zu\n", file, model.nq, given.size());
        return 1;
    }
    Vector q = Eigen::Map<const Vector>(given.data(), model.nq);
    for (const auto& joint : model.joints) { // w comes last here
        if (joint.nq() - joint.nv() == 1 && joint.nq() >= 4) {
            int first = joint.idx_q() + joint.nq() - 4;
            Eigen::Vector4d turn = q.segment<4>(first);
            q.segment<4>(first) << turn[1], turn[2], turn[3], turn[0];
        }
    }
    pinocchio::Data data(model);
    Vector v = 0.5 * Vector::Random(model.nv), a = 0.5 * Vector::Random(model.nv);
    Vector tau = 0.5 * Vector::Random(model.nv);
    pinocchio::crba(model, data, q, pinocchio::Convention::WORLD);
    std::printf("%.17g\n", data.M.diagonal().sum());
    const std::function<void()> runs[] = {
        [&] { pinocchio::forwardKinematics(model, data, q); },
        [&] { pinocchio::forwardKinematics(model, data, q, v); },
        nullptr, // no bias without the state
        [&] { pinocchio::rnea(model, data, q, v, a); },
        [&] { pinocchio::crba(model, data, q, pinocchio::Convention::WORLD); },
        [&] {
            pinocchio::crba(model, data, q, pinocchio::Convention::WORLD);
            pinocchio::cholesky::decompose(model, data);
        },
        [&] {
            pinocchio::nonLinearEffects(model, data, q, v);
            pinocchio::crba(model, data, q, pinocchio::Convention::WORLD);
            pinocchio::cholesky::decompose(model, data);
        },
        [&] { pinocchio::aba(model, data, q, v, tau, pinocchio::Convention::WORLD); },
    };
    for (const auto& run : runs) {
        std::printf("%.6g\n", run ? least(rounds, run) : std::numeric_limits<double>::quiet_NaN());
    }
    return 0;
}

} // namespace

int main(int argc, char** argv) {
    if (argc < 4) {
        std::fprintf(stderr, "rigor-bench-pinocchio-dynamics FILE.xml ROUNDS Q...\n");
        return 2;
    }
    std::vector<double> q;
    for (int i = 3; i < argc; ++i) {
        q.push_back(std::atof(argv[i]));
    }
    try {
        return measure(argv[1], std::atoi(argv[2]), q);
    } catch (const std::exception& fault) {
        std::fprintf(stderr, "%s: %s\n", argv[1], fault.what());
        return 1;
    }
}
