// SPDX-License-Identifier: Apache-2.0
// The worker of Tutti itself, through its C API: what a program that links the library gets. BENCH_MEMORY says where
// its buffers are: ordinary or symmetric.
#include <algorithm>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "base/variables/environment.hpp"
#include "peers/peer.hpp"
#include "peers/registry.hpp"
#include "peers/tutti/library.hpp"
#include "peers/tutti/symmetric_copy.hpp"
#include <tutti/tutti.h>

// Libraries of before it are measured too (benches/in_turns): there it is null.
extern "C" [[gnu::weak]] tuttiResult_t tuttiGetVirtualTime(tuttiComm_t comm, double* now, double* last_call);

namespace tutti::peers {

namespace {

// Variables of devices have no say here.
bool is_of_devices(const harness::Setting& setting) { return setting.name.starts_with("TUTTI_DEVICE_"); }

class TuttiPeer final : public Peer {
 public:
  explicit TuttiPeer(const Environment& environment) : environment_(environment) {}

  Status begin(int rank, int num_ranks) override {
    TUTTI_TRY_ASSIGN(is_symmetric_, wants_symmetric(environment_));
    TUTTI_TRY(make_communicator(rank, num_ranks));
    TUTTI_TRY(status_of("tuttiCommUserRank", tuttiCommUserRank(comm_, &rank_), comm_));
    return status_of("tuttiCommCount", tuttiCommCount(comm_, &num_ranks_), comm_);
  }
  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int num_ranks() const override { return num_ranks_; }

  [[nodiscard]] std::string version() const override { return tutti_version(); }

  [[nodiscard]] bool has_barrier() const override { return true; }
  void barrier() override {
    if (tuttiBarrier(comm_) != tuttiSuccess) throw std::runtime_error(tuttiGetLastError(comm_));
  }
  void end() override {
    copy_.reset();
    tuttiCommDestroy(comm_);
  }

  Result<Operation> prepare(const Request& request) override {
    copy_.reset();  // the last case's
    if (!is_symmetric_ || request.collective == Collective::barrier) return prepared(request);
    copy_ = SymmetricCopy::make(request, num_ranks_, comm_);
    if (copy_ == nullptr)
      return unsupported(fmt::format("there is no symmetric memory for it: {}", tuttiGetLastError(comm_)));
    Result<Operation> operation = prepared(copy_->request());
    if (!operation.ok()) return operation;
    operation->load = [this] { copy_->load(); };
    operation->output = copy_->request().output;
    return operation;
  }

  Result<Pending> prepare_pending(const Request& request) override {
    if (request.collective != Collective::all_reduce) return Peer::prepare_pending(request);
    if (is_symmetric_) return unsupported("pending calls are measured in ordinary memory");
    TUTTI_TRY(prepared(request).status());
    const auto free = [](tuttiRequest_t* held) {
      tuttiRequestFree(held);
      delete held;
    };
    const std::shared_ptr<tuttiRequest_t> made(new tuttiRequest_t(nullptr), free);
    TUTTI_TRY(status_of(
        "tuttiAllReduceInit",
        tuttiAllReduceInit(request.input, request.output, request.count, static_cast<tuttiDataType_t>(request.type),
                           static_cast<tuttiRedOp_t>(request.op), comm_, made.get()),
        comm_));
    const auto expect = [](tuttiResult_t result) {
      if (result != tuttiSuccess) throw std::runtime_error(tuttiGetLastError(nullptr));
    };
    return Pending{.start = [made, expect] { expect(tuttiStart(*made)); },
                   .wait = [made, expect] { expect(tuttiWait(made.get())); }};
  }

  [[nodiscard]] std::string ran(const Request& request) const override {
    return fmt::format("{} {} ({})", name_of(request.collective), algorithm_, why_);
  }
  [[nodiscard]] harness::Evidence evidence(const harness::Setting& setting) const override {
    if (setting.name == kMemoryVariable)
      return confirmed(copy_ != nullptr ? "buffers are from tuttiMemAlloc" : "buffers are the program's own");
    if (is_of_devices(setting)) return unverifiable("it concerns devices");
    if (!collectives_of(setting.name).empty()) {
      const std::string how = fmt::format("{} ran: {}", algorithm_, why_);
      return forces(setting) == is_forced_ ? confirmed(how) : ignored(how);
    }
    if (setting.name == "TUTTI_FABRIC" && setting.value)
      return last_virtual_call() ? confirmed("calls take virtual time") : ignored("calls take real time");
    if (setting.name.starts_with("TUTTI_")) return unverifiable("Tutti refuses values it does not know, and no more");
    return unverifiable("Tutti reads nothing back");
  }

 private:
  // On several hosts whoever has started the ranks brings them together.
  Status make_communicator(int rank, int num_ranks) {
    if (hosts()) return status_of("tuttiCommInitLaunched", tuttiCommInitLaunched(&comm_), nullptr);
    TUTTI_TRY_ASSIGN(comm_, meet_on_this_host(environment_, rank, num_ranks));
    return {};
  }

  // In nanoseconds; nothing in real time.
  [[nodiscard]] std::optional<double> last_virtual_call() const {
    double last = 0;
    const bool is_virtual =
        tuttiGetVirtualTime != nullptr && tuttiGetVirtualTime(comm_, nullptr, &last) == tuttiSuccess;
    return is_virtual ? std::optional(last) : std::nullopt;
  }

  Result<Operation> prepared(const Request& request) {
    tuttiAlgorithmInfo_t info = TUTTI_ALGORITHM_INFO_INITIALIZER;
    const std::string collective(name_of(request.collective));
    TUTTI_TRY(status_of("tuttiGetAlgorithmInfo",
                        tuttiGetAlgorithmInfo(collective.c_str(), request.input, request.output, request.count,
                                              static_cast<tuttiDataType_t>(request.type),
                                              static_cast<tuttiRedOp_t>(request.op), request.root, comm_, &info),
                        comm_));
    algorithm_ = info.algorithm;
    why_ = info.why;
    is_forced_ = info.choice == tuttiChoiceForced;
    for (const harness::Setting& setting : settings()) {
      if (is_of_devices(setting)) continue;
      const std::vector<Collective> concerned = collectives_of(setting.name);
      const bool is_about_it = std::find(concerned.begin(), concerned.end(), request.collective) != concerned.end();
      if (is_about_it && forces(setting) && !is_forced_)
        return unsupported(fmt::format("{} cannot be followed: {}; {} would run", setting.name, why_, algorithm_));
    }
    Operation operation{[this, request] {
      if (call(request) != tuttiSuccess) throw std::runtime_error(tuttiGetLastError(comm_));
    }};
    // On a simulated fabric (TUTTI_FABRIC).
    if (last_virtual_call()) {
      operation.other_microseconds = [this, run = operation.run] {
        run();
        return last_virtual_call().value_or(0) / 1e3;
      };
      operation.other_counter = "virtual_us";
    }
    return operation;
  }

  tuttiResult_t call(const Request& request) {
    const auto type = static_cast<tuttiDataType_t>(request.type);
    const auto op = static_cast<tuttiRedOp_t>(request.op);
    const auto& [in, out, count, root] = std::tie(request.input, request.output, request.count, request.root);
    switch (request.collective) {
      case Collective::all_reduce: return tuttiAllReduce(in, out, count, type, op, comm_);
      case Collective::all_gather: return tuttiAllGather(in, out, count, type, comm_);
      case Collective::reduce_scatter: return tuttiReduceScatter(in, out, count, type, op, comm_);
      case Collective::broadcast: return tuttiBroadcast(in, out, count, type, root, comm_);
      case Collective::reduce: return tuttiReduce(in, out, count, type, op, root, comm_);
      case Collective::all_to_all: return tuttiAlltoAll(in, out, count, type, comm_);
      case Collective::gather: return tuttiGather(in, out, count, type, root, comm_);
      case Collective::scatter: return tuttiScatter(in, out, count, type, root, comm_);
      case Collective::scan: return tuttiScan(in, out, count, type, op, comm_);
      case Collective::exclusive_scan: return tuttiExScan(in, out, count, type, op, comm_);
      case Collective::barrier: return tuttiBarrier(comm_);
      default: return tuttiInternalError;
    }
  }

  const Environment& environment_;
  tuttiComm_t comm_ = nullptr;
  int rank_ = 0;
  int num_ranks_ = 1;
  bool is_symmetric_ = false;
  // Of the case that was prepared last.
  std::unique_ptr<SymmetricCopy> copy_;
  std::string algorithm_;
  std::string why_;
  bool is_forced_ = false;
};

}  // namespace

}  // namespace tutti::peers

int main() {
  const tutti::Environment environment = tutti::Environment::of_this_process();
  tutti::peers::TuttiPeer peer(environment);
  return tutti::peers::run_worker(peer, environment);
}
