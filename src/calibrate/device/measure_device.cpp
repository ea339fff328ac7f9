// SPDX-License-Identifier: Apache-2.0
#include "calibrate/device/measure_device.hpp"

#include <algorithm>
#include <array>
#include <ctime>
#include <functional>
#include <memory>
#include <utility>

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include "algorithms/registry.hpp"
#include "base/units.hpp"
#include "calibrate/device/fold_ranks.hpp"
#include "calibrate/device/graph_timer.hpp"
#include "calibrate/device/walked.hpp"
#include "device/cuda/cuda_status.hpp"
#include "device/cuda/device_group.hpp"

namespace tutti::calibrate {

using device::cuda_status;
using device::DeviceArray;
using device::DeviceCall;
using device::DeviceGroup;
using device::DevicePart;
using device::LoadedSchedule;

namespace {

constexpr double kPatience = 20;  // seconds that a rank waits for another
// Of a source, twice as much each time: from what caches hold to what they do not.
constexpr std::uint64_t kLeastBytes = 4 << 10U;
constexpr std::uint64_t kMostBytes = 128 << 20U;
constexpr std::uint64_t kMostMemory = std::uint64_t{8} << 30U;
constexpr std::uint64_t kAlignment = 256;
constexpr std::uint32_t kFurtherSignals = 4;
// A small number of every type of floats, and not 0.
constexpr int kFilling = 0x05;

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  return fmt::format("{:04}-{:02}-{:02}", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday);
}

Result<int> attribute(cudaDeviceAttr which, int device) {
  int value = 0;
  TUTTI_TRY(cuda_status(cudaDeviceGetAttribute(&value, which, device), fmt::format("ask device {}", device)));
  return value;
}

// Who reads a source.
enum class Readers : std::uint8_t { one, all };

// The device, its memory and its ranks.
class Bench {
 public:
  static Result<std::unique_ptr<Bench>> make(const DeviceToMeasure& what) {
    std::unique_ptr<Bench> bench(new Bench(what));
    TUTTI_TRY(bench->on_.status());
    TUTTI_TRY(bench->set_up());
    return bench;
  }

  [[nodiscard]] GraphTimer& timer() { return timer_; }
  [[nodiscard]] DeviceGroup& group() { return *group_; }
  [[nodiscard]] std::uint32_t num_ranks() const { return what_.num_ranks; }
  [[nodiscard]] bool has_room(std::uint64_t buffers, std::uint64_t bytes) const {
    return buffers * aligned(bytes) <= bytes_;
  }
  [[nodiscard]] std::byte* buffer(std::uint64_t number, std::uint64_t bytes) const {
    return memory_.data() + number * aligned(bytes);
  }

  // All ranks fold `num_sources` sources of so many bytes, each rank into a destination of its own.
  Result<std::size_t> add_fold(Type type, std::uint32_t num_sources, std::uint64_t bytes, Readers readers) {
    FoldRanks ranks = {};
    ranks.count = bytes / size_of(type);
    for (std::uint32_t rank = 0; rank < num_ranks(); ++rank) {
      for (std::uint32_t source = 0; source < num_sources; ++source)
        ranks.sources[rank][source] =
            buffer(readers == Readers::all ? source : std::uint64_t{rank} * num_sources + source, bytes);
      ranks.destinations[rank] = buffer(num_read(num_sources, readers) + rank, bytes);
    }
    const device::Kernel kernel = fold_ranks_kernel(type, num_sources);
    return timer_.add([this, ranks, kernel](cudaStream_t stream) { return start(kernel, ranks, stream); },
                      (num_read(num_sources, readers) + num_ranks()) * bytes);
  }
  [[nodiscard]] bool has_room_for_fold(std::uint32_t num_sources, std::uint64_t bytes, Readers readers) const {
    return has_room(num_read(num_sources, readers) + num_ranks(), bytes);
  }

  // A kernel that does nothing, of a graph and by the host.
  Result<std::size_t> add_launch(bool by_host) {
    const auto call = [this](cudaStream_t stream) {
      return start(fold_ranks_kernel(Type::f32, 1), FoldRanks{}, stream);
    };
    return by_host ? timer_.add_to_stream(call) : timer_.add(call, 0);
  }
  Result<std::size_t> add_flags() {
    return timer_.add([this](cudaStream_t stream) { return group_->flags_all(stream); }, 0);
  }
  // Each rank's input of so many bytes, and its output.
  Result<std::size_t> add_call(const DeviceCall& call, std::uint64_t bytes) {
    std::vector<DevicePart> parts;
    for (std::uint32_t rank = 0; rank < num_ranks(); ++rank) {
      std::byte* input = buffer(2 * std::uint64_t{rank}, bytes);
      parts.push_back({input, call.in_place ? input : buffer(2 * std::uint64_t{rank} + 1, bytes)});
    }
    return timer_.add([this, call, parts](cudaStream_t stream) { return group_->call_all(call, parts, stream); },
                      2 * bytes * num_ranks());
  }

  Status run() {
    TUTTI_TRY(timer_.run());
    return group_->check();
  }

 private:
  explicit Bench(const DeviceToMeasure& what) : what_(what), on_(what.device) {}

  static std::uint64_t aligned(std::uint64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }
  [[nodiscard]] std::uint64_t num_read(std::uint32_t num_sources, Readers readers) const {
    return readers == Readers::all ? num_sources : std::uint64_t{num_sources} * num_ranks();
  }

  Status set_up() {
    TUTTI_TRY(timer_.set_up());
    TUTTI_TRY_ASSIGN(group_,
                     DeviceGroup::create({.device = what_.device, .num_ranks = what_.num_ranks, .timeout = kPatience}));
    std::size_t free = 0;
    std::size_t total = 0;
    TUTTI_TRY(cuda_status(cudaMemGetInfo(&free, &total), "ask for free memory"));
    bytes_ = std::min<std::uint64_t>(kMostMemory, free / 2);
    TUTTI_TRY_ASSIGN(memory_, DeviceArray::make(bytes_, "buffers", timer_.stream()));
    TUTTI_TRY(cuda_status(cudaMemsetAsync(memory_.data(), kFilling, bytes_, timer_.stream()), "fill memory"));
    return cuda_status(cudaStreamSynchronize(timer_.stream()), "fill memory");
  }

  Status start(device::Kernel kernel, FoldRanks ranks, cudaStream_t stream) {
    std::array<void*, 1> parameters = {&ranks};
    return cuda_status(cudaLaunchKernel(kernel, dim3(group_->limits().channels, num_ranks()), dim3(device::kThreads),
                                        parameters.data(), 0, stream),
                       "start a fold");
  }

  DeviceToMeasure what_;
  device::OnDevice on_;
  std::uint64_t bytes_ = 0;
  DeviceArray memory_;
  std::unique_ptr<DeviceGroup> group_;
  GraphTimer timer_;  // goes first: its graphs use all of the above
};

// Numbers of what is timed, until there are times.
struct Sweep {
  std::vector<std::uint64_t> bytes;
  std::vector<std::size_t> numbers;

  [[nodiscard]] std::vector<DeviceTime> times(const GraphTimer& timer) const {
    std::vector<DeviceTime> made;
    for (std::size_t i = 0; i < bytes.size(); ++i) made.push_back({bytes[i], timer.median(numbers[i])});
    return made;
  }
};

Result<Sweep> sweep(Bench& bench, Type type, std::uint32_t num_sources, Readers readers) {
  Sweep made;
  if (fold_ranks_kernel(type, num_sources) == nullptr) return made;
  for (std::uint64_t bytes = kLeastBytes; bytes <= kMostBytes; bytes *= 2) {
    if (!bench.has_room_for_fold(num_sources, bytes, readers)) break;
    TUTTI_TRY_ASSIGN(const std::size_t number, bench.add_fold(type, num_sources, bytes, readers));
    made.bytes.push_back(bytes);
    made.numbers.push_back(number);
  }
  return made;
}

Result<std::size_t> add_walk(Bench& bench, std::uint32_t signals) {
  TUTTI_TRY_ASSIGN(const LoadedSchedule* loaded,
                   bench.group().schedules().load(exchange_and_signals(bench.num_ranks(), signals)));
  const DeviceCall call = {
      .schedule = loaded, .count = kLeastBytes / 4, .op = {.op = Op::sum, .type = Type::f32}, .generic = true};
  return bench.add_call(call, kLeastBytes);
}

// An all-gather of as many bytes a rank: it differs from the exchange by its steps, one for each rank in place of one.
Result<std::size_t> add_walked_gather(Bench& bench) {
  const Algorithm* algorithm = find_algorithm(Collective::all_gather, "direct");
  TUTTI_TRY_ASSIGN(const LoadedSchedule* loaded,
                   bench.group().schedules().load(
                       *algorithm, {.collective = Collective::all_gather, .num_ranks = bench.num_ranks()}));
  const DeviceCall call = {
      .schedule = loaded, .count = kLeastBytes / 4, .op = {.op = Op::sum, .type = Type::f32}, .generic = true};
  return bench.add_call(call, kLeastBytes * bench.num_ranks());
}

Status describe(int device, DeviceMeasurements& measured) {
  cudaDeviceProp properties = {};
  TUTTI_TRY(cuda_status(cudaGetDeviceProperties(&properties, device), fmt::format("ask device {}", device)));
  measured.device =
      fmt::format("{}, {} multiprocessors, {} of L2", static_cast<const char*>(properties.name),
                  properties.multiProcessorCount, to_text(Bytes(static_cast<std::uint64_t>(properties.l2CacheSize))));
  TUTTI_TRY_ASSIGN(const int kilohertz, attribute(cudaDevAttrMemoryClockRate, device));
  TUTTI_TRY_ASSIGN(const int bits, attribute(cudaDevAttrGlobalMemoryBusWidth, device));
  // Memory of GPUs carries two words a clock.
  measured.memory_rate = 2.0 * kilohertz * 1e3 * bits / 8 / 1e9;
  return {};
}

}  // namespace

Status can_measure(const DeviceToMeasure& what) {
  if (what.num_ranks < 2 || what.num_ranks > kMostDeviceRanks)
    return wrong_argument(
        fmt::format("{} ranks on a device; from 2 to {} are measured", what.num_ranks, kMostDeviceRanks));
  int devices = 0;
  const cudaError_t error = cudaGetDeviceCount(&devices);
  // That is also what CUDA says where there is no driver.
  if (error == cudaErrorInsufficientDriver)
    return {Code::unsupported, "there is no CUDA device here: NVIDIA's driver is missing, or too old for this Tutti"};
  if (error != cudaSuccess || devices == 0)
    return {Code::unsupported, fmt::format("there is no CUDA device here: {}",
                                           error == cudaSuccess ? "none is visible" : cudaGetErrorString(error))};
  if (what.device < 0 || what.device >= devices)
    return wrong_argument(fmt::format("there is no device {}; they are 0 to {}", what.device, devices - 1));
  return {};
}

Result<DeviceMeasurements> measure(const DeviceToMeasure& what) {
  TUTTI_TRY(can_measure(what));
  DeviceMeasurements measured{.date = today(), .num_ranks = what.num_ranks, .walked_bytes = kLeastBytes};
  TUTTI_TRY(describe(what.device, measured));
  TUTTI_TRY_ASSIGN(const std::unique_ptr<Bench> bench, Bench::make(what));
  TUTTI_TRY_ASSIGN(const std::size_t stream_launch, bench->add_launch(true));
  TUTTI_TRY_ASSIGN(const std::size_t launch, bench->add_launch(false));
  TUTTI_TRY_ASSIGN(const std::size_t flags, bench->add_flags());
  TUTTI_TRY_ASSIGN(const std::size_t walked, add_walk(*bench, 0));
  // Behind the first signal all ranks know already that the others have read, so it hides a latency.
  TUTTI_TRY_ASSIGN(const std::size_t signalled, add_walk(*bench, 1));
  TUTTI_TRY_ASSIGN(const std::size_t further, add_walk(*bench, 1 + kFurtherSignals));
  TUTTI_TRY_ASSIGN(const std::size_t gathered, add_walked_gather(*bench));
  TUTTI_TRY_ASSIGN(const Sweep copies, sweep(*bench, Type::f32, 1, Readers::one));
  TUTTI_TRY_ASSIGN(const Sweep folds, sweep(*bench, Type::f32, what.num_ranks, Readers::one));
  TUTTI_TRY_ASSIGN(const Sweep bf16, sweep(*bench, Type::bf16, what.num_ranks, Readers::one));
  TUTTI_TRY_ASSIGN(const Sweep shared, sweep(*bench, Type::f32, what.num_ranks, Readers::all));
  TUTTI_TRY(bench->run());
  const GraphTimer& timer = bench->timer();
  measured.stream_launch = timer.median(stream_launch);
  measured.launch = timer.median(launch);
  measured.flags = timer.median(flags);
  measured.walked = timer.median(walked);
  measured.walked_signal = (timer.median(further) - timer.median(signalled)) / kFurtherSignals;
  measured.walked_step = (timer.median(gathered) - timer.median(walked)) / (what.num_ranks - 1);
  measured.copies = copies.times(timer);
  measured.folds = folds.times(timer);
  measured.folds_bf16 = bf16.times(timer);
  measured.shared_folds = shared.times(timer);
  return measured;
}

Result<std::vector<CheckedCase>> check(const DeviceToMeasure& what, const fabric::Fabric& fabric) {
  TUTTI_TRY(can_measure(what));
  TUTTI_TRY_ASSIGN(const std::unique_ptr<Bench> bench, Bench::make(what));
  std::vector<CheckedCase> checked;
  std::vector<std::size_t> numbers;
  for (const DeviceCase& each : device_cases()) {
    if (!bench->has_room(2 * std::uint64_t{what.num_ranks}, each.bytes)) continue;
    TUTTI_TRY_ASSIGN(const Algorithm* algorithm, algorithm_of(each));
    TUTTI_TRY_ASSIGN(
        const LoadedSchedule* loaded,
        bench->group().schedules().load(*algorithm, {.collective = each.collective, .num_ranks = what.num_ranks}));
    const DeviceCall call = {.schedule = loaded,
                             .count = count_of(each, what.num_ranks),
                             .op = {.op = Op::sum, .type = Type::f32},
                             .in_place = each.in_place};
    TUTTI_TRY_ASSIGN(const std::size_t number, bench->add_call(call, each.bytes));
    numbers.push_back(number);
    TUTTI_TRY_ASSIGN(const double expected, predicted(fabric, each));
    checked.push_back({.of = each, .predicted = expected});
  }
  TUTTI_TRY(bench->run());
  for (std::size_t i = 0; i < checked.size(); ++i) checked[i].measured = bench->timer().median(numbers[i]);
  return checked;
}

}  // namespace tutti::calibrate
