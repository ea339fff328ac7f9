// SPDX-License-Identifier: Apache-2.0
// The worker of Tutti on CUDA devices, through its C API (tutti/device.h). It is built everywhere: whether the library
// has that part is asked when it begins, and the driver is opened then. BENCH_MEMORY says where buffers are: ordinary
// (cuMemAlloc) or symmetric (tuttiDeviceMemAlloc). Each rank has a device; BENCH_DEVICES=shared lets ranks share one.
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>

#include <fmt/format.h>

#include "base/counted.hpp"
#include "base/text.hpp"
#include "base/variables/environment.hpp"
#include "peers/on_device/mirror.hpp"
#include "peers/on_device/must.hpp"
#include "peers/on_device/queue.hpp"
#include "peers/peer.hpp"
#include "peers/probe.hpp"
#include "peers/tutti/library.hpp"
#include <tutti/device.h>
#include <tutti/tutti.h>

namespace tutti::peers {

namespace {

using on_device::Device;
using on_device::Mirror;
using on_device::must;

constexpr std::string_view kDevicesVariable = "BENCH_DEVICES";
constexpr std::string_view kAlgorithmVariable = "TUTTI_DEVICE_ALGORITHM";
constexpr std::string_view kTableVariable = "TUTTI_DEVICE_TABLE";

Result<bool> may_share_devices(const Environment& environment) {
  const std::string word = environment.lookup(kDevicesVariable).value_or("own");
  if (same_name(word, "shared")) return true;
  if (same_name(word, "own")) return false;
  return Status(Code::invalid_argument,
                fmt::format("{} is {}; it takes own or shared", kDevicesVariable, in_quotes(word)));
}

// Whether libtutti was built with devices: without, every function says so before it looks at anything.
Status check_library() {
  int count = 0;
  if (tuttiDeviceCommCount(nullptr, &count) != tuttiUnsupported) return {};
  return unsupported(tuttiGetLastError(nullptr));
}

// Whether TUTTI_DEVICE_ALGORITHM ("all_reduce=two_shot,broadcast=direct") says something of the collective.
bool asks_for(const harness::Setting& setting, Collective collective) {
  if (!setting.value) return false;
  for (const std::string_view part : split(*setting.value, ','))
    if (find_collective(trim(part.substr(0, part.find('=')))) == collective) return true;
  return false;
}

class TuttiDevicePeer final : public Peer {
 public:
  explicit TuttiDevicePeer(const Environment& environment) : environment_(environment) {}

  Status begin(int rank, int num_ranks) override {
    if (hosts()) return {Code::unsupported, "device communicators are of one host; leave out --hosts"};
    TUTTI_TRY_ASSIGN(is_symmetric_, wants_symmetric(environment_));
    TUTTI_TRY(check_library());
    TUTTI_TRY(take_device(rank, num_ranks));
    TUTTI_TRY_ASSIGN(comm_, meet_on_this_host(environment_, rank, num_ranks));
    TUTTI_TRY(status_of("tuttiDeviceCommInit", tuttiDeviceCommInit(&device_comm_, comm_, nullptr), nullptr));
    TUTTI_TRY(status_of("tuttiDeviceCommUserRank", tuttiDeviceCommUserRank(device_comm_, &rank_), nullptr));
    TUTTI_TRY(status_of("tuttiDeviceCommCount", tuttiDeviceCommCount(device_comm_, &num_ranks_), nullptr));
    TUTTI_TRY_ASSIGN(queue_, on_device::Queue::make(*device_));
    return {};
  }
  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int num_ranks() const override { return num_ranks_; }
  [[nodiscard]] std::string version() const override {
    return fmt::format("{}, {}{}", tutti_version(), device_name_, words_on_sharing());
  }
  void end() override {
    mirror_.reset();
    tuttiDeviceCommDestroy(device_comm_);
    tuttiCommDestroy(comm_);
  }

  Result<Operation> prepare(const Request& request) override {
    mirror_.reset();  // the last case's: ranks give back symmetric memory together
    if (!is_there(request.collective))
      return unsupported(fmt::format("Tutti has no {} on devices", name_of(request.collective)));
    TUTTI_TRY_ASSIGN(mirror_, Mirror::make(request, num_ranks_, *device_, allocation()));
    TUTTI_TRY(ask_for_algorithm(mirror_->request()));
    const auto enqueue = [this, asked = mirror_->request()] {
      must(status_of(call_name_.c_str(), call(asked), nullptr));
    };
    Operation operation;
    operation.run = [this, enqueue] {
      enqueue();
      must(queue_->synchronize());
    };
    operation.load = [mirror = mirror_] { mirror->load(); };
    operation.store = [this, mirror = mirror_] {
      check_calls();
      mirror->store();
    };
    const std::size_t bytes = request.count * size_of(request.type) * static_cast<std::size_t>(num_ranks_);
    // Behind all timed calls: what failed on the device returns early, and would look fast.
    operation.other_microseconds = [this, enqueue, bytes] {
      const double microseconds = queue_->microseconds_of(enqueue, bytes);
      check_calls();
      return microseconds;
    };
    return operation;
  }

  [[nodiscard]] std::string ran(const Request& request) const override {
    return fmt::format("{} {} ({}){}", name_of(request.collective), algorithm_, why_, words_on_sharing());
  }
  [[nodiscard]] harness::Evidence evidence(const harness::Setting& setting) const override {
    const std::string how = fmt::format("{} ran: {}", algorithm_, why_);
    if (setting.name == kMemoryVariable)
      return confirmed(is_symmetric_ ? "buffers are from tuttiDeviceMemAlloc" : "buffers are the program's own");
    if (setting.name == kDevicesVariable)
      return confirmed(most_on_a_device_ > 1 ? "devices are shared" : "each rank has a device");
    if (setting.name == kAlgorithmVariable)
      return asks_for(setting, collective_) == (why_ == "asked for") ? confirmed(how) : ignored(how);
    if (setting.name == kTableVariable)
      return why_ == "by the table" ? confirmed(how) : unverifiable(fmt::format("{}, not by the table", how));
    if (setting.name.starts_with("TUTTI_")) return unverifiable("Tutti refuses values it does not know, and no more");
    return unverifiable("Tutti reads nothing back");
  }

 private:
  [[nodiscard]] static bool is_there(Collective collective) {
    switch (collective) {
      case Collective::all_reduce:
      case Collective::all_gather:
      case Collective::reduce_scatter:
      case Collective::broadcast:
      case Collective::reduce:
      case Collective::all_to_all: return true;
      default: return false;
    }
  }

  Status take_device(int rank, int num_ranks) {
    TUTTI_TRY_ASSIGN(const bool may_share, may_share_devices(environment_));
    TUTTI_TRY_ASSIGN(device_, Device::open(on_device::kCuda));
    const int count = device_->count();
    if (num_ranks > count && !may_share)
      return {Code::unsupported,
              fmt::format("{} ranks need a device each, and there {} {}; {}=shared lets ranks share devices, to check "
                          "results; times then say nothing about the library",
                          num_ranks, count == 1 ? "is" : "are", count, kDevicesVariable)};
    most_on_a_device_ = (num_ranks + count - 1) / count;
    TUTTI_TRY(device_->use(rank % count));
    TUTTI_TRY_ASSIGN(device_name_, device_->name(rank % count));
    return {};
  }

  // Whoever reads the times must know: a device runs its processes in turns of milliseconds.
  [[nodiscard]] std::string words_on_sharing() const {
    if (most_on_a_device_ < 2) return "";
    return fmt::format(", {} processes share a device and run in turns", most_on_a_device_);
  }

  [[nodiscard]] Mirror::Allocate allocation() {
    if (!is_symmetric_) return Mirror::ordinary(*device_);
    return [this](std::size_t bytes) -> Result<std::shared_ptr<void>> {
      void* memory = nullptr;
      TUTTI_TRY(status_of("tuttiDeviceMemAlloc", tuttiDeviceMemAlloc(&memory, bytes, device_comm_), nullptr));
      return std::shared_ptr<void>(memory,
                                   [this](void* freed) { static_cast<void>(tuttiDeviceMemFree(freed, device_comm_)); });
    };
  }

  // All ranks get the same answer. What no algorithm can do is no failure, nor what the one that is asked for cannot.
  Status ask_for_algorithm(const Request& request) {
    collective_ = request.collective;
    const std::string collective(name_of(collective_));
    call_name_ = fmt::format("{} on devices", collective);
    const char* algorithm = nullptr;
    const char* why = nullptr;
    const tuttiResult_t result = tuttiDeviceGetAlgorithm(
        collective.c_str(), request.input, request.output, request.count, static_cast<tuttiDataType_t>(request.type),
        static_cast<tuttiRedOp_t>(request.op), request.root, device_comm_, &algorithm, &why);
    if (result == tuttiUnsupported || result == tuttiInvalidArgument) return unsupported(tuttiGetLastError(nullptr));
    TUTTI_TRY(status_of("tuttiDeviceGetAlgorithm", result, nullptr));
    algorithm_ = algorithm;
    why_ = why;
    return {};
  }

  tuttiResult_t call(const Request& request) const {
    const auto type = static_cast<tuttiDataType_t>(request.type);
    const auto op = static_cast<tuttiRedOp_t>(request.op);
    const auto& [in, out, count, root] = std::tie(request.input, request.output, request.count, request.root);
    // The driver's own type, which device.h names.
    const auto stream = reinterpret_cast<tuttiDeviceStream_t>(queue_->stream());
    switch (request.collective) {
      case Collective::all_reduce: return tuttiDeviceAllReduce(in, out, count, type, op, device_comm_, stream);
      case Collective::all_gather: return tuttiDeviceAllGather(in, out, count, type, device_comm_, stream);
      case Collective::reduce_scatter: return tuttiDeviceReduceScatter(in, out, count, type, op, device_comm_, stream);
      case Collective::broadcast: return tuttiDeviceBroadcast(in, out, count, type, root, device_comm_, stream);
      case Collective::reduce: return tuttiDeviceReduce(in, out, count, type, op, root, device_comm_, stream);
      case Collective::all_to_all: return tuttiDeviceAlltoAll(in, out, count, type, device_comm_, stream);
      default: return tuttiInternalError;
    }
  }

  // What went wrong on the device, which no call has returned yet.
  void check_calls() const {
    tuttiResult_t error = tuttiSuccess;
    must(status_of("tuttiDeviceCommGetAsyncError", tuttiDeviceCommGetAsyncError(device_comm_, &error), nullptr));
    must(status_of(call_name_.c_str(), error, nullptr));
  }

  const Environment& environment_;
  std::unique_ptr<Device> device_;
  std::string device_name_;
  int most_on_a_device_ = 1;
  tuttiComm_t comm_ = nullptr;
  tuttiDeviceComm_t device_comm_ = nullptr;
  std::optional<on_device::Queue> queue_;
  int rank_ = 0;
  int num_ranks_ = 1;
  bool is_symmetric_ = false;
  // Of the case that was prepared last.
  std::shared_ptr<Mirror> mirror_;
  Collective collective_ = Collective::all_reduce;
  std::string call_name_;
  std::string algorithm_;
  std::string why_;
};

// Says what is here, or what is missing.
Result<std::string> look_around() {
  TUTTI_TRY(check_library());
  TUTTI_TRY_ASSIGN(const std::unique_ptr<Device> device, Device::open(on_device::kCuda));
  TUTTI_TRY_ASSIGN(const std::string devices, device->summary());
  return fmt::format("{}, {}", tutti_version(), devices);
}

}  // namespace

}  // namespace tutti::peers

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == tutti::peers::kProbeOption)
    return tutti::peers::answer_probe(tutti::peers::look_around());
  const tutti::Environment environment = tutti::Environment::of_this_process();
  tutti::peers::TuttiDevicePeer peer(environment);
  return tutti::peers::run_worker(peer, environment);
}
