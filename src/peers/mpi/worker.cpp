// SPDX-License-Identifier: Apache-2.0
// The worker of an MPI: built once for Open MPI and once for MPICH, by whichever mpi.h it is compiled with.
#include <optional>

#include <fmt/format.h>
#include <mpi.h>

#include "base/variables/environment.hpp"
#include "peers/mpi/call.hpp"
#include "peers/mpi/settings.hpp"

namespace tutti::peers {

namespace {

class MpiPeer final : public Peer {
 public:
  Status begin(int, int) override {
    // As most programs begin. MPI_Init_thread would allow for the thread of this process that watches the runner, but
    // that knows nothing of MPI, and Open MPI takes real locks as soon as it is asked for MPI_THREAD_FUNNELED: 15 % of
    // 1 KB.
    if (MPI_Init(nullptr, nullptr) != MPI_SUCCESS) return {Code::system, "MPI_Init failed"};
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &num_ranks_);
    settings_.emplace();
    return {};
  }
  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int num_ranks() const override { return num_ranks_; }

  [[nodiscard]] std::string version() const override {
#if defined(OPEN_MPI)
    return fmt::format("Open MPI {}.{}.{}", OMPI_MAJOR_VERSION, OMPI_MINOR_VERSION, OMPI_RELEASE_VERSION);
#else
    return fmt::format("MPICH {}", MPICH_VERSION);
#endif
  }

  [[nodiscard]] bool has_barrier() const override { return true; }
  void barrier() override { MPI_Barrier(MPI_COMM_WORLD); }
  void end() override {
    settings_.reset();
    MPI_Finalize();
  }

  Result<Operation> prepare(const Request& request) override {
    is_pending_ = false;
    return to_mpi(request, rank_);
  }
  Result<Pending> prepare_pending(const Request& request) override {
    is_pending_ = true;
    return request.collective == Collective::all_reduce ? to_pending_mpi(request) : Peer::prepare_pending(request);
  }
  [[nodiscard]] std::string ran(const Request& request) const override {
    return is_pending_ ? "" : settings_->ran(request, num_ranks_);
  }
  [[nodiscard]] harness::Evidence evidence(const harness::Setting& setting) const override {
    if (is_pending_) return unverifiable("these calls do not block, and go another way than blocking ones");
    return settings_->evidence(setting);
  }

 private:
  int rank_ = 0;
  int num_ranks_ = 1;
  bool is_pending_ = false;  // what was prepared last
  std::optional<MpiSettings> settings_;
};

}  // namespace

}  // namespace tutti::peers

int main() {
  tutti::peers::MpiPeer peer;
  return tutti::peers::run_worker(peer, tutti::Environment::of_this_process());
}
