// SPDX-License-Identifier: Apache-2.0
#include "cuda/device/device_group.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "cuda/device/cuda_status.hpp"

namespace tutti::cuda {

Status cuda_status(cudaError_t error, std::string_view what) {
  if (error == cudaSuccess) return {};
  // What CUDA also gives to the next who asks.
  static_cast<void>(cudaGetLastError());
  return {Code::system, fmt::format("cannot {}: {}", what, cudaGetErrorString(error))};
}

namespace {

// The same on all ranks of one call, and most likely different in another.
std::uint64_t digest_of(const DeviceCall& call, const Shape& shape) {
  std::uint64_t digest = 0xcbf29ce484222325U;
  const auto add = [&digest](std::uint64_t value) { digest = (digest ^ value) * 0x100000001b3U ^ (digest >> 29U); };
  const Schedule& schedule = call.schedule->schedule();
  for (const char letter : schedule.name) add(static_cast<std::uint64_t>(letter));
  for (const std::uint64_t value :
       {static_cast<std::uint64_t>(schedule.collective), std::uint64_t{schedule.root}, call.count,
        static_cast<std::uint64_t>(call.op.type), static_cast<std::uint64_t>(call.op.op),
        std::uint64_t{call.in_place ? 1U : 0U}, shape.window, std::uint64_t{shape.channels}})
    add(value);
  return (digest ^ digest >> 20U ^ digest >> 40U) & kDigestMask;
}

std::string name_of_call(const DeviceCall& call) {
  const Schedule& schedule = call.schedule->schedule();
  return fmt::format("start {} by {} of {} {} elements", name_of(schedule.collective), schedule.name, call.count,
                     name_of(call.op.type));
}

// Kernels that wait for each other must not be loaded one at a time as each is first started.
Status load_kernel(Kernel kernel) {
  if (kernel == nullptr) return {};
  cudaFuncAttributes attributes;
  return cuda_status(cudaFuncGetAttributes(&attributes, kernel), "load the kernels");
}

}  // namespace

Result<std::unique_ptr<DeviceGroup>> DeviceGroup::create(const DeviceOptions& options) {
  if (options.num_ranks < 1 || options.num_ranks > kMostCalls)
    return wrong_argument(
        fmt::format("{} ranks on one device; it takes 1 to {}", options.num_ranks, std::uint32_t{kMostCalls}));
  std::unique_ptr<DeviceGroup> group(new DeviceGroup(options));
  TUTTI_TRY(group->set_up());
  return group;
}

Status DeviceGroup::set_up() {
  TUTTI_TRY(cuda_status(cudaSetDevice(options_.device), fmt::format("use device {}", options_.device)));
  int multiprocessors = 0;
  TUTTI_TRY(cuda_status(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, options_.device),
                        "ask the device"));
  const auto share = static_cast<std::uint32_t>(multiprocessors) / options_.num_ranks;
  if (share == 0)
    return {Code::unsupported, fmt::format("{} ranks on {} multiprocessors", options_.num_ranks, multiprocessors)};
  // A channel has a multiprocessor to itself, so that all run at the same time.
  limits_ = {.channels = options_.channels == 0 ? share : std::min(share, options_.channels),
             .threads = kThreads,
             .channel_bytes = options_.channel_bytes,
             .slots_bytes = options_.slots_bytes,
             .scratch_bytes = options_.scratch_bytes};
  TUTTI_TRY(cuda_status(cudaStreamCreateWithFlags(&uploads_, cudaStreamNonBlocking), "make a stream"));
  TUTTI_TRY(load_kernels());
  TUTTI_TRY(allocate());
  return tell_peers();
}

Status DeviceGroup::load_kernels() {
  for (int type = 0; type < kNumTypes; ++type) {
    TUTTI_TRY(load_kernel(walk_kernel(static_cast<Type>(type))));
    TUTTI_TRY(load_kernel(one_shot_kernel(static_cast<Type>(type), options_.num_ranks)));
    TUTTI_TRY(load_kernel(two_shot_kernel(static_cast<Type>(type), options_.num_ranks)));
  }
  return load_kernel(flags_kernel());
}

Status DeviceGroup::allocate(void** memory, std::uint64_t bytes, const char* what) {
  const std::string words = fmt::format("have {} bytes of device memory for {}", bytes, what);
  TUTTI_TRY(cuda_status(cudaMallocAsync(memory, std::max<std::uint64_t>(bytes, 1), uploads_), words));
  memory_.push_back(*memory);
  return cuda_status(cudaMemsetAsync(*memory, 0, bytes, uploads_), words);
}

Status DeviceGroup::allocate() {
  const std::uint64_t channels = limits_.channels;
  for (std::uint32_t rank = 0; rank < options_.num_ranks; ++rank) {
    void* inbox = nullptr;
    void* slots = nullptr;
    void* scratch = nullptr;
    void* state = nullptr;
    TUTTI_TRY(allocate(&inbox, channels * options_.num_ranks * sizeof(Entry), "flags"));
    TUTTI_TRY(allocate(&slots, channels * limits_.slots_bytes, "slots"));
    TUTTI_TRY(allocate(&scratch, channels * limits_.scratch_bytes, "scratch"));
    TUTTI_TRY(allocate(&state, channels * sizeof(ChannelState), "counters"));
    peers_.push_back({static_cast<Entry*>(inbox), static_cast<std::byte*>(slots), static_cast<std::byte*>(scratch), 0});
    states_.push_back(static_cast<ChannelState*>(state));
  }
  void* failures = nullptr;
  TUTTI_TRY(cuda_status(cudaHostAlloc(&failures, options_.num_ranks * sizeof(Failure), cudaHostAllocMapped),
                        "have memory that host and device reach"));
  failures_ = static_cast<Failure*>(failures);
  std::fill_n(failures_, options_.num_ranks, Failure{});
  void* mapped = nullptr;
  TUTTI_TRY(cuda_status(cudaHostGetDevicePointer(&mapped, failures, 0), "map memory of the host"));
  device_failures_ = static_cast<Failure*>(mapped);
  return {};
}

Status DeviceGroup::tell_peers() {
  void* peers = nullptr;
  TUTTI_TRY(allocate(&peers, peers_.size() * sizeof(Peer), "addresses"));
  device_peers_ = static_cast<const Peer*>(peers);
  TUTTI_TRY(
      cuda_status(cudaMemcpyAsync(peers, peers_.data(), peers_.size() * sizeof(Peer), cudaMemcpyHostToDevice, uploads_),
                  "copy to the device"));
  return cuda_status(cudaStreamSynchronize(uploads_), "set up the device");
}

DeviceGroup::~DeviceGroup() {
  abort();
  if (uploads_ == nullptr) return;
  for (void* memory : memory_) static_cast<void>(cudaFree(memory));  // waits for what runs
  if (failures_ != nullptr) static_cast<void>(cudaFreeHost(failures_));
  static_cast<void>(cudaStreamDestroy(uploads_));
  static_cast<void>(cudaGetLastError());
}

Result<const LoadedSchedule*> DeviceGroup::load(const Algorithm& algorithm, const Request& request) {
  LoadedSchedule::Written written = LoadedSchedule::Written::no;
  if (algorithm.collective == Collective::all_reduce && algorithm.name == "one_shot")
    written = LoadedSchedule::Written::one_shot;
  if (algorithm.collective == Collective::all_reduce && algorithm.name == "two_shot")
    written = LoadedSchedule::Written::two_shot;
  if (request.num_ranks != options_.num_ranks)
    return wrong_argument(fmt::format("{} is asked for {} ranks; the group has {}", algorithm.name, request.num_ranks,
                                      options_.num_ranks));
  return load(algorithm.make(request), algorithm.name_safe_in_place, algorithm.name_safe, written);
}

Result<const LoadedSchedule*> DeviceGroup::load(const Schedule& schedule) {
  if (schedule.num_ranks != options_.num_ranks)
    return wrong_argument(
        fmt::format("{} is of {} ranks; the group has {}", schedule.name, schedule.num_ranks, options_.num_ranks));
  return load(schedule, false, false, LoadedSchedule::Written::no);
}

Result<const LoadedSchedule*> DeviceGroup::load(Schedule schedule, bool in_place_by_name, bool out_of_place_by_name,
                                                LoadedSchedule::Written written) {
  if (facts_of(schedule.collective).varies)
    return Status(Code::unsupported, fmt::format("{} on a device", name_of(schedule.collective)));
  auto loaded = std::make_unique<LoadedSchedule>();
  TUTTI_TRY_ASSIGN(loaded->in_place_.programs, make_word_programs(schedule, in_place_by_name));
  TUTTI_TRY_ASSIGN(loaded->out_of_place_.programs, make_word_programs(schedule, out_of_place_by_name));
  loaded->schedule_ = std::move(schedule);
  loaded->written_ = written;
  TUTTI_TRY(upload(loaded->in_place_));
  TUTTI_TRY(upload(loaded->out_of_place_));
  TUTTI_TRY(cuda_status(cudaStreamSynchronize(uploads_), "copy a schedule to the device"));
  return schedules_.emplace_back(std::move(loaded)).get();
}

Status DeviceGroup::upload(LoadedSchedule::Form& form) {
  const auto copy = [this](const auto& words, auto& places) -> Status {
    void* memory = nullptr;
    const std::uint64_t bytes = words.size() * sizeof(words[0]);
    TUTTI_TRY(allocate(&memory, bytes, "a schedule"));
    places.push_back(static_cast<std::decay_t<decltype(words[0])>*>(memory));
    return cuda_status(cudaMemcpyAsync(memory, words.data(), bytes, cudaMemcpyHostToDevice, uploads_),
                       "copy a schedule to the device");
  };
  for (const WordProgram& program : form.programs.ranks) {
    TUTTI_TRY(copy(program.steps, form.steps));
    TUTTI_TRY(copy(program.ends, form.ends));
  }
  return {};
}

Kernel DeviceGroup::kernel_of(const DeviceCall& call) const {
  Kernel kernel = nullptr;
  if (!call.generic && call.op.op == Op::sum) {
    if (call.schedule->written_ == LoadedSchedule::Written::one_shot)
      kernel = one_shot_kernel(call.op.type, options_.num_ranks);
    if (call.schedule->written_ == LoadedSchedule::Written::two_shot)
      kernel = two_shot_kernel(call.op.type, options_.num_ranks);
  }
  return kernel != nullptr ? kernel : walk_kernel(call.op.type);
}

Result<WalkCall> DeviceGroup::prepare(std::uint32_t rank, const DeviceCall& call, const Shape& shape,
                                      const DevicePart& part) const {
  const LoadedSchedule::Form& form = call.schedule->form(call.in_place);
  const CollectiveFacts& facts = facts_of(call.schedule->schedule().collective);
  if (facts.folds && (call.op.op == Op::user || !is_defined(call.op.op, call.op.type)))
    return wrong_argument(fmt::format("{} of {} on a device", name_of(call.op.op), name_of(call.op.type)));
  // A rank's factor is its own, so nobody else can scale what it exposes.
  if (facts.folds && call.op.op == Op::premultiplied_sum && form.programs.by_name)
    return Status(Code::unsupported, fmt::format("a premultiplied sum by {}, which reads inputs where they lie",
                                                 call.schedule->schedule().name));
  WalkCall walk = walk_call_of(form.programs, shape, call.count, static_cast<std::uint32_t>(size_of(call.op.type)));
  walk.steps = form.steps[rank];
  walk.ends = form.ends[rank];
  walk.num_steps = static_cast<std::uint32_t>(form.programs.ranks[rank].steps.size());
  walk.rank = rank;
  walk.digest = digest_of(call, shape);
  walk.timeout = static_cast<std::uint64_t>(options_.timeout * 1e9);
  walk.slots_bytes = limits_.slots_bytes;
  walk.scratch_bytes = limits_.scratch_bytes;
  walk.input = static_cast<const std::byte*>(part.input);
  walk.output = static_cast<std::byte*>(part.output);
  walk.peers = device_peers_;
  walk.state = states_[rank];
  walk.failure = device_failures_ + rank;
  walk.op = call.op;
  walk.op.scalar = part.scalar;
  walk.op.integer_scalar = part.integer_scalar;
  if (!facts.folds) walk.op.op = Op::sum;  // of one source: a copy
  return walk;
}

Status DeviceGroup::launch(Kernel kernel, WalkCalls& calls, std::uint32_t ranks, std::uint32_t channels,
                           cudaStream_t stream, const std::string& what) const {
  TUTTI_TRY(check());
  void* parameters[] = {&calls};  // NOLINT(modernize-avoid-c-arrays)
  return cuda_status(cudaLaunchKernel(kernel, dim3(channels, ranks), dim3(kThreads), &parameters[0], 0, stream), what);
}

Status DeviceGroup::call(std::uint32_t rank, const DeviceCall& call, const DevicePart& part, cudaStream_t stream) {
  if (rank >= options_.num_ranks) return wrong_argument(fmt::format("rank {} of {}", rank, options_.num_ranks));
  const auto element = static_cast<std::uint32_t>(size_of(call.op.type));
  TUTTI_TRY_ASSIGN(const Shape shape,
                   shape_of(call.schedule->form(call.in_place).programs, call.count, element, limits_));
  WalkCalls calls;
  TUTTI_TRY_ASSIGN(calls.ranks[0], prepare(rank, call, shape, part));
  return launch(kernel_of(call), calls, 1, shape.channels, stream, name_of_call(call));
}

Status DeviceGroup::call_all(const DeviceCall& call, std::span<const DevicePart> parts, cudaStream_t stream) {
  if (parts.size() != options_.num_ranks)
    return wrong_argument(fmt::format("parts of {} ranks for {}", parts.size(), options_.num_ranks));
  const auto element = static_cast<std::uint32_t>(size_of(call.op.type));
  TUTTI_TRY_ASSIGN(const Shape shape,
                   shape_of(call.schedule->form(call.in_place).programs, call.count, element, limits_));
  WalkCalls calls;
  for (std::uint32_t rank = 0; rank < options_.num_ranks; ++rank) {
    TUTTI_TRY_ASSIGN(calls.ranks[rank], prepare(rank, call, shape, parts[rank]));
  }
  return launch(kernel_of(call), calls, options_.num_ranks, shape.channels, stream, name_of_call(call));
}

Status DeviceGroup::flags_all(cudaStream_t stream) {
  WalkCalls calls;
  for (std::uint32_t rank = 0; rank < options_.num_ranks; ++rank) {
    WalkCall& call = calls.ranks[rank];
    call.rank = rank;
    call.num_ranks = options_.num_ranks;
    call.posts_per_round = 1;
    call.peers = device_peers_;
    call.state = states_[rank];
    call.failure = device_failures_ + rank;
    call.timeout = static_cast<std::uint64_t>(options_.timeout * 1e9);
  }
  return launch(flags_kernel(), calls, options_.num_ranks, 1, stream, "start the exchange of flags");
}

Status DeviceGroup::check() const {
  for (std::uint32_t rank = 0; rank < options_.num_ranks; ++rank) {
    const Failure& failure = failures_[rank];
    const auto trouble = static_cast<Trouble>(__atomic_load_n(&failure.trouble, __ATOMIC_ACQUIRE));
    const std::string what = failure.post == kNoPost
                                 ? fmt::format("for rank {} to have finished with a round", failure.rank)
                                 : fmt::format("for post {} of rank {}", failure.post, failure.rank);
    const int missing = static_cast<int>(failure.rank);
    switch (trouble) {
      case Trouble::none: break;
      case Trouble::timeout:
        return {Code::timeout, fmt::format("rank {} has waited {} s {}", rank, options_.timeout, what), missing};
      case Trouble::aborted:
        return {Code::aborted, fmt::format("rank {} was told to stop while it waited {}", rank, what), missing};
      case Trouble::mismatch:
        return {Code::invalid_usage, fmt::format("rank {} and rank {} do not make the same call", rank, failure.rank),
                missing};
    }
  }
  return {};
}

void DeviceGroup::abort() {
  for (std::uint32_t rank = 0; failures_ != nullptr && rank < options_.num_ranks; ++rank)
    __atomic_store_n(&failures_[rank].abort, 1U, __ATOMIC_RELEASE);
}

}  // namespace tutti::cuda
