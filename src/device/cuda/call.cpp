// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/call.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "device/cuda/cuda_status.hpp"
#include "schedule/prove/prove.hpp"

namespace tutti::device {

Status cuda_status(cudaError_t error, std::string_view what) {
  if (error == cudaSuccess) return {};
  // Clears CUDA's last error, so that a later call does not report it again.
  static_cast<void>(cudaGetLastError());
  return {Code::system, fmt::format("cannot {}: {}", what, cudaGetErrorString(error))};
}

namespace {

// Lets this thread make CUDA calls while it captures a graph. They do not become part of the graph.
class AmidCapture {
 public:
  AmidCapture() { static_cast<void>(cudaThreadExchangeStreamCaptureMode(&mode_)); }
  ~AmidCapture() { static_cast<void>(cudaThreadExchangeStreamCaptureMode(&mode_)); }
  AmidCapture(const AmidCapture&) = delete;
  AmidCapture& operator=(const AmidCapture&) = delete;

 private:
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
};

std::uint64_t mixed(std::uint64_t digest, std::uint64_t value) {
  return ((digest ^ value) * 0x9e3779b97f4a7c15U) ^ (digest >> 29U);
}

// Covers the programs of all ranks, but no addresses.
std::uint64_t digest_of_words(const WordPrograms& programs) {
  std::uint64_t digest = programs.by_name ? 1 : 0;
  for (const WordProgram& program : programs.ranks) {
    for (const WordStep& step : program.steps)
      for (const std::uint64_t value : {static_cast<std::uint64_t>(step.kind), std::uint64_t{step.num_sources},
                                        std::uint64_t{step.num_destinations}, std::uint64_t{step.post},
                                        std::uint64_t{step.first_piece}, std::uint64_t{step.num_pieces}})
        digest = mixed(digest, value);
    for (const WordEnd& end : program.ends)
      for (const std::uint64_t value : {static_cast<std::uint64_t>(end.base), std::uint64_t{end.is_remote ? 1U : 0U},
                                        std::uint64_t{end.rank}, std::uint64_t{end.post}, std::uint64_t{end.block}})
        digest = mixed(digest, value);
  }
  return digest;
}

// Loaded before any call: loading at the first launch could wait for a kernel that waits for this one.
Status load_kernel(Kernel kernel) {
  if (kernel == nullptr) return {};
  cudaFuncAttributes attributes = {};
  return cuda_status(cudaFuncGetAttributes(&attributes, kernel), "load the kernels");
}

Status load_kernels(std::uint32_t num_ranks) {
  for (int type = 0; type < kNumTypes; ++type) {
    TUTTI_TRY(load_kernel(walk_kernel(static_cast<Type>(type))));
    TUTTI_TRY(load_kernel(one_shot_kernel(static_cast<Type>(type), num_ranks)));
    TUTTI_TRY(load_kernel(two_shot_kernel(static_cast<Type>(type), num_ranks)));
  }
  return load_kernel(flags_kernel());
}

}  // namespace

Result<Failures> Failures::make(std::uint32_t number) {
  Failures failures;
  void* host = nullptr;
  void* device = nullptr;
  TUTTI_TRY(cuda_status(cudaHostAlloc(&host, number * sizeof(Failure), cudaHostAllocMapped),
                        "have memory that host and device reach"));
  failures.host_ = static_cast<Failure*>(host);
  failures.number_ = number;
  std::fill_n(failures.host_, number, Failure{});
  TUTTI_TRY(cuda_status(cudaHostGetDevicePointer(&device, host, 0), "map memory of the host"));
  failures.device_ = static_cast<Failure*>(device);
  return failures;
}

Failures::~Failures() {
  if (host_ != nullptr) static_cast<void>(cuda_status(cudaFreeHost(host_), "free memory of the host"));
}
Failures::Failures(Failures&& other) noexcept { *this = std::move(other); }
Failures& Failures::operator=(Failures&& other) noexcept {
  std::swap(number_, other.number_);
  std::swap(host_, other.host_);
  std::swap(device_, other.device_);
  return *this;
}

void Failures::abort() {
  for (std::uint32_t number = 0; number < number_; ++number)
    __atomic_store_n(&host_[number].abort, 1U, __ATOMIC_RELEASE);
}

void Failures::note_left(std::uint32_t number, std::uint32_t rank) {
  __atomic_fetch_or(&host_[number].left[rank / 32], 1U << rank % 32, __ATOMIC_RELEASE);
}

Status Failures::status(std::uint32_t number, std::uint32_t rank, double timeout) const {
  const Failure& failure = host_[number];
  const auto trouble = static_cast<Trouble>(__atomic_load_n(&failure.trouble, __ATOMIC_ACQUIRE));
  if (trouble == Trouble::none) {
    if (__atomic_load_n(&failure.abort, __ATOMIC_ACQUIRE) == 0) return {};
    return {Code::aborted, fmt::format("rank {} was told to stop", rank)};
  }
  const std::string what = failure.post == kNoPost
                               ? fmt::format("for rank {} to have finished with a round", failure.rank)
                               : fmt::format("for post {} of rank {}", failure.post, failure.rank);
  const int missing = static_cast<int>(failure.rank);
  switch (trouble) {
    case Trouble::none: break;
    case Trouble::timeout:
      return {Code::timeout, fmt::format("rank {} has waited {} s {}", rank, timeout, what), missing};
    case Trouble::aborted:
      return {Code::aborted, fmt::format("rank {} was told to stop while it waited {}", rank, what), missing};
    case Trouble::left:
      return {Code::rank_lost, fmt::format("rank {} has ended its part; rank {} waited {}", failure.rank, rank, what),
              missing};
    case Trouble::mismatch:
      return {Code::invalid_usage, fmt::format("rank {} and rank {} do not make the same call", rank, failure.rank),
              missing};
  }
  return {};
}

Result<Schedules> Schedules::make(int device, std::uint32_t num_ranks, std::optional<std::uint32_t> only) {
  const OnDevice on(device);
  TUTTI_TRY(on.status());
  Schedules schedules(device, num_ranks, only);
  TUTTI_TRY(load_kernels(num_ranks));
  TUTTI_TRY(cuda_status(cudaStreamCreateWithFlags(&schedules.stream_, cudaStreamNonBlocking), "make a stream"));
  TUTTI_TRY(schedules.take_room(0).status());
  return schedules;
}

Schedules::Schedules(Schedules&& other) noexcept
    : device_(other.device_),
      num_ranks_(other.num_ranks_),
      only_(other.only_),
      stream_(std::exchange(other.stream_, nullptr)),
      schedules_(std::move(other.schedules_)),
      arrays_(std::move(other.arrays_)),
      room_left_(other.room_left_),
      room_(other.room_) {}

Schedules::~Schedules() {
  if (stream_ != nullptr) static_cast<void>(cuda_status(cudaStreamDestroy(stream_), "end a stream"));
}

Result<const LoadedSchedule*> Schedules::load(const Algorithm& algorithm, const Request& request) {
  LoadedSchedule::Written written = LoadedSchedule::Written::no;
  if (algorithm.collective == Collective::all_reduce && algorithm.name == "one_shot")
    written = LoadedSchedule::Written::one_shot;
  if (algorithm.collective == Collective::all_reduce && algorithm.name == "two_shot")
    written = LoadedSchedule::Written::two_shot;
  if (request.num_ranks != num_ranks_)
    return wrong_argument(
        fmt::format("{} is asked for {} ranks; there are {}", algorithm.name, request.num_ranks, num_ranks_));
  if (const std::string objection = objection_to(algorithm, request); !objection.empty())
    return wrong_argument(fmt::format("{}: {}", algorithm.name, objection));
  Schedule schedule = algorithm.make(request);
  const Allowed allowed = {.in_place = schedule.allows_in_place,
                           .out_of_place = schedule.allows_out_of_place,
                           .in_place_by_name = algorithm.name_safe_in_place,
                           .out_of_place_by_name = algorithm.name_safe};
  return load(std::move(schedule), allowed, written);
}

Result<const LoadedSchedule*> Schedules::load(const Schedule& schedule) {
  if (schedule.num_ranks != num_ranks_)
    return wrong_argument(
        fmt::format("{} is of {} ranks; there are {}", schedule.name, schedule.num_ranks, num_ranks_));
  const Proof proof = prove(schedule);
  if (!proof.ok())
    return wrong_argument(fmt::format("the schedule {} is wrong: {}", schedule.name, proof.failure->to_string()));
  // Where something is opened all is by name, so what is exposed must be safe by name.
  TUTTI_TRY_ASSIGN(const WordPrograms words, make_word_programs(schedule, false));
  const auto is_right = [&](bool allowed, const ExposureProof& exposure) {
    return allowed && (!words.by_name || exposure.exposure != Exposure::copy_only);
  };
  const Allowed allowed = {.in_place = is_right(schedule.allows_in_place, proof.in_place),
                           .out_of_place = is_right(schedule.allows_out_of_place, proof.out_of_place),
                           .in_place_by_name = proof.in_place.exposure == Exposure::name_safe,
                           .out_of_place_by_name = proof.out_of_place.exposure == Exposure::name_safe};
  return load(schedule, allowed, LoadedSchedule::Written::no);
}

Result<const LoadedSchedule*> Schedules::load(Schedule schedule, const Allowed& allowed,
                                              LoadedSchedule::Written written) {
  if (facts_of(schedule.collective).varies)
    return Status(Code::unsupported, fmt::format("{} on a device", name_of(schedule.collective)));
  const OnDevice on(device_);
  TUTTI_TRY(on.status());
  const AmidCapture amid;
  auto loaded = std::make_unique<LoadedSchedule>();
  TUTTI_TRY_ASSIGN(loaded->in_place_.programs, make_word_programs(schedule, allowed.in_place_by_name));
  TUTTI_TRY_ASSIGN(loaded->out_of_place_.programs, make_word_programs(schedule, allowed.out_of_place_by_name));
  TUTTI_TRY_ASSIGN(loaded->staged_in_place_.programs, make_word_programs(schedule, false));
  TUTTI_TRY_ASSIGN(loaded->staged_out_of_place_.programs, make_word_programs(schedule, false));
  loaded->in_place_.is_allowed = loaded->staged_in_place_.is_allowed = allowed.in_place;
  loaded->out_of_place_.is_allowed = loaded->staged_out_of_place_.is_allowed = allowed.out_of_place;
  loaded->digest_ = digest_of_words(loaded->staged_out_of_place_.programs);
  loaded->written_ = written;
  for (LoadedSchedule::Form* form : {&loaded->in_place_, &loaded->out_of_place_}) {
    Result<CopyPrograms> copies = make_copy_programs(schedule, form->programs);
    if (copies.ok()) form->copies = std::move(*copies);
  }
  loaded->schedule_ = std::move(schedule);
  for (LoadedSchedule::Form* form : {&loaded->in_place_, &loaded->out_of_place_, &loaded->staged_in_place_})
    TUTTI_TRY(upload(*form));
  loaded->staged_out_of_place_.steps = loaded->staged_in_place_.steps;
  loaded->staged_out_of_place_.ends = loaded->staged_in_place_.ends;
  TUTTI_TRY(cuda_status(cudaStreamSynchronize(stream_), "copy a schedule to the device"));
  return schedules_.emplace_back(std::move(loaded)).get();
}

// Asks CUDA for another room only when the last one is full.
Result<std::byte*> Schedules::take_room(std::uint64_t bytes) {
  constexpr std::uint64_t kRoom = 1 << 20U;
  constexpr std::uint64_t kAligned = 256;
  const std::uint64_t whole = (bytes + kAligned - 1) / kAligned * kAligned;
  if (whole > room_left_ || room_ == nullptr) {
    room_left_ = std::max(kRoom, whole);
    TUTTI_TRY_ASSIGN(DeviceArray array, DeviceArray::make(room_left_, "schedules", stream_));
    room_ = array.data();
    arrays_.push_back(std::move(array));
  }
  room_left_ -= whole;
  return std::exchange(room_, room_ + whole);
}

Status Schedules::upload(LoadedSchedule::Form& form) {
  const auto copy = [this](const auto& words, auto& places) -> Status {
    const std::uint64_t bytes = words.size() * sizeof(words[0]);
    TUTTI_TRY_ASSIGN(std::byte* const room, take_room(bytes));
    places.push_back(reinterpret_cast<std::decay_t<decltype(words[0])>*>(room));
    return cuda_status(cudaMemcpyAsync(room, words.data(), bytes, cudaMemcpyHostToDevice, stream_),
                       "copy a schedule to the device");
  };
  for (std::uint32_t rank = 0; rank < form.programs.ranks.size(); ++rank) {
    if (only_ && *only_ != rank) {
      form.steps.push_back(nullptr);
      form.ends.push_back(nullptr);
      continue;
    }
    TUTTI_TRY(copy(form.programs.ranks[rank].steps, form.steps));
    TUTTI_TRY(copy(form.programs.ranks[rank].ends, form.ends));
  }
  return {};
}

Kernel Schedules::kernel_of(const DeviceCall& call) {
  Kernel kernel = nullptr;
  const std::uint32_t num_ranks = call.schedule->schedule().num_ranks;
  if (!call.generic && call.op.op == Op::sum) {
    if (call.schedule->written_ == LoadedSchedule::Written::one_shot) kernel = one_shot_kernel(call.op.type, num_ranks);
    if (call.schedule->written_ == LoadedSchedule::Written::two_shot) kernel = two_shot_kernel(call.op.type, num_ranks);
  }
  return kernel != nullptr ? kernel : walk_kernel(call.op.type);
}

Result<const LoadedSchedule::Form*> Schedules::form_of(const DeviceCall& call, const RankPlace& place) {
  const Schedule& schedule = call.schedule->schedule();
  const CollectiveFacts& facts = facts_of(schedule.collective);
  // A rank's factor is its own, so nobody else can scale what it exposes.
  const bool scales = facts.folds && call.op.op == Op::premultiplied_sum;
  const LoadedSchedule::Form& form = call.schedule->form(call.in_place, scales || !place.is_symmetric);
  if (!form.is_allowed)
    return Status(Code::unsupported,
                  fmt::format("{} is not right {}", schedule.name, call.in_place ? "in place" : "out of place"));
  if (facts.folds && (call.op.op == Op::user || !is_defined(call.op.op, call.op.type)))
    return wrong_argument(fmt::format("{} of {} on a device", name_of(call.op.op), name_of(call.op.type)));
  if (form.programs.by_name && !place.is_symmetric)
    return Status(Code::unsupported, fmt::format("{} stores into the buffers of other ranks, so it is for symmetric "
                                                 "memory alone",
                                                 schedule.name));
  if (form.programs.by_name && scales)
    return Status(Code::unsupported,
                  fmt::format("a premultiplied sum by {}, which reads inputs where they lie", schedule.name));
  return &form;
}

namespace {

std::uint64_t folded(std::uint64_t digest) { return (digest ^ digest >> 20U ^ digest >> 40U) & kDigestMask; }

}  // namespace

// The same on all ranks of one call, and most likely different in another.
std::uint64_t Schedules::digest_of(const DeviceCall& call, const Shape& shape, bool by_name) {
  const Schedule& schedule = call.schedule->schedule();
  std::uint64_t digest = call.schedule->digest_;
  for (const std::uint64_t value :
       {static_cast<std::uint64_t>(schedule.collective), std::uint64_t{schedule.root}, call.count,
        static_cast<std::uint64_t>(call.op.type), static_cast<std::uint64_t>(call.op.op), call.op.divisor,
        std::uint64_t{call.in_place ? 1U : 0U}, std::uint64_t{by_name ? 1U : 0U}, shape.window,
        std::uint64_t{shape.channels}})
    digest = mixed(digest, value);
  return folded(digest);
}

WalkCall Schedules::meeting(const RankPlace& place) {
  return {.rank = place.rank,
          .num_ranks = place.num_ranks,
          .posts_per_round = 1,
          .same_device = place.same_device,
          .timeout = static_cast<std::uint64_t>(place.timeout * 1e9),
          .peers = place.peers,
          .state = place.state,
          .failure = place.failure};
}

WalkCall Schedules::meeting(const DeviceCall& call, std::uint64_t input_place, std::uint64_t output_place,
                            std::uint64_t phase, const RankPlace& place) {
  std::uint64_t digest = call.schedule->digest_;
  for (const std::uint64_t value :
       {std::uint64_t{call.schedule->schedule().root}, call.count, static_cast<std::uint64_t>(call.op.type),
        std::uint64_t{call.in_place ? 1U : 0U}, input_place, output_place, phase})
    digest = mixed(digest, value);
  WalkCall walk = meeting(place);
  walk.digest = folded(digest);
  return walk;
}

Result<Shape> Schedules::shape(const DeviceCall& call, const RankPlace& place) {
  TUTTI_TRY_ASSIGN(const LoadedSchedule::Form* form, form_of(call, place));
  return shape_of(form->programs, call.count, static_cast<std::uint32_t>(size_of(call.op.type)), place.limits);
}

Result<WalkCall> Schedules::prepare(const DeviceCall& call, const DevicePart& part, const Shape& shape,
                                    const RankPlace& place) {
  TUTTI_TRY_ASSIGN(const LoadedSchedule::Form* of_call, form_of(call, place));
  const LoadedSchedule::Form& form = *of_call;
  const std::uint64_t element = size_of(call.op.type);
  for (const void* buffer : {part.input, static_cast<const void*>(part.output)})
    if (reinterpret_cast<std::uintptr_t>(buffer) % element != 0)
      return wrong_argument(fmt::format("rank {}: a buffer at {} is not at a multiple of {} bytes, which {} has",
                                        place.rank, buffer, element, name_of(call.op.type)));
  WalkCall walk = walk_call_of(form.programs, shape, call.count, static_cast<std::uint32_t>(size_of(call.op.type)));
  walk.steps = form.steps[place.rank];
  walk.ends = form.ends[place.rank];
  walk.num_steps = static_cast<std::uint32_t>(form.programs.ranks[place.rank].steps.size());
  walk.rank = place.rank;
  walk.same_device = place.same_device;
  walk.digest = digest_of(call, shape, form.programs.by_name);
  walk.timeout = static_cast<std::uint64_t>(place.timeout * 1e9);
  walk.slots_bytes = place.limits.slots_bytes;
  walk.scratch_bytes = place.limits.scratch_bytes;
  walk.input = static_cast<const std::byte*>(part.input);
  walk.output = static_cast<std::byte*>(part.output);
  walk.input_views = part.input_views;
  walk.output_views = part.output_views;
  walk.peers = place.peers;
  walk.state = place.state;
  walk.failure = place.failure;
  walk.op = call.op;
  walk.op.scalar = part.scalar;
  walk.op.integer_scalar = part.integer_scalar;
  // Of one source: a copy.
  if (!facts_of(call.schedule->schedule().collective).folds) walk.op.op = Op::sum;
  return walk;
}

Status launch(Kernel kernel, WalkCalls& calls, std::uint32_t ranks, std::uint32_t channels, cudaStream_t stream,
              const std::string& what) {
  std::array<void*, 1> parameters = {&calls};
  return cuda_status(cudaLaunchKernel(kernel, dim3(channels, ranks), dim3(kThreads), parameters.data(), 0, stream),
                     what);
}

std::string words_of(const DeviceCall& call) {
  const Schedule& schedule = call.schedule->schedule();
  return fmt::format("start {} by {} of {} {} elements", name_of(schedule.collective), schedule.name, call.count,
                     name_of(call.op.type));
}

}  // namespace tutti::device
