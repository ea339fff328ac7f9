// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/device_rank.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "device/cuda/cuda_status.hpp"

namespace tutti::device {

namespace {

// What ranks tell each other before they share anything.
struct Facts {
  std::array<char, 16> device = {};
  std::uint64_t process = 0;
  std::uint64_t multiprocessors = 0;
  std::uint64_t span = 0;  // of addresses that symmetric memory of its device can need
  // Equal on all ranks.
  std::array<std::uint64_t, 9> terms = {};

  [[nodiscard]] bool shares_with(const Facts& other) const {
    return device == other.device && process == other.process;
  }
};

Result<Facts> facts_of(const RankOptions& options) {
  const std::string words = fmt::format("ask device {}", options.device);
  cudaDeviceProp properties = {};
  TUTTI_TRY(cuda_status(cudaGetDeviceProperties(&properties, options.device), words));
  TUTTI_TRY_ASSIGN(const std::uint64_t granularity, granularity_of(options.device));
  Facts facts;
  static_assert(sizeof properties.uuid == sizeof facts.device);
  std::memcpy(facts.device.data(), &properties.uuid, facts.device.size());
  facts.process = this_process();
  facts.multiprocessors = static_cast<std::uint64_t>(properties.multiProcessorCount);
  facts.span = (properties.totalGlobalMem / granularity + 1) * granularity;
  facts.terms = {options.channels,
                 options.channel_bytes,
                 options.slots_bytes,
                 options.scratch_bytes,
                 options.copies_by_engines ? 1U : 0U,
                 options.agreement,
                 granularity,
                 kThreads,
                 sizeof(Entry)};
  return facts;
}

Result<std::uint32_t> share_of(std::uint64_t multiprocessors, std::uint64_t sharing) {
  // A channel has a multiprocessor to itself, so that all run at the same time.
  const auto share = static_cast<std::uint32_t>(multiprocessors / sharing);
  if (share == 0)
    return Status(Code::unsupported, fmt::format("{} ranks on {} multiprocessors", sharing, multiprocessors));
  return share;
}

// Kernels of ranks that are threads wait for each other, and streams that share a connection to the device run one
// after another. CUDA has 8 connections unless this variable said more when it started.
Status check_connections() {
  constexpr const char* kName = "CUDA_DEVICE_MAX_CONNECTIONS";
  constexpr int kMost = 32;
  const char* const value = std::getenv(kName);
  if (value != nullptr && std::atoi(value) >= kMost) return {};
  return {Code::unsupported,
          fmt::format("ranks that are threads share a device, and would wait for each other for ever if CUDA ran their "
                      "streams one after another: set {}={} before the program starts, or make each rank a process",
                      kName, kMost)};
}

constexpr std::uint64_t kNotTold = UINT64_MAX;  // no place

Status amid_capture() {
  return {Code::invalid_usage, "a stream is being captured, so the device cannot be waited for; call this behind it"};
}

}  // namespace

Result<std::uint32_t> most_channels(int device, std::uint32_t sharing, std::uint32_t wanted) {
  int multiprocessors = 0;
  TUTTI_TRY(cuda_status(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device),
                        fmt::format("ask device {}", device)));
  TUTTI_TRY_ASSIGN(const std::uint32_t share, share_of(static_cast<std::uint64_t>(multiprocessors), sharing));
  return wanted == 0 ? share : std::min(share, wanted);
}

Result<std::unique_ptr<DeviceRank>> DeviceRank::create(const RankOptions& options,
                                                       std::unique_ptr<Rendezvous> rendezvous) {
  if (rendezvous->num_ranks() > kMostRanks)
    return Status(Code::unsupported, fmt::format("{} ranks with devices; {} are the most", rendezvous->num_ranks(),
                                                 std::uint32_t{kMostRanks}));
  const OnDevice on(options.device);
  Result<Schedules> schedules = on.status().ok()
                                    ? Schedules::make(options.device, rendezvous->num_ranks(), rendezvous->rank())
                                    : Result<Schedules>(on.status());
  TUTTI_TRY(agree(*rendezvous, schedules.status()));
  std::unique_ptr<DeviceRank> rank(new DeviceRank(options, std::move(rendezvous), std::move(*schedules)));
  TUTTI_TRY(rank->meet());
  return rank;
}

// Every error of a rank is told to the others, so that none waits for it in vain.
Status DeviceRank::meet() {
  const Result<Facts> own = facts_of(options_);
  TUTTI_TRY(agree(*rendezvous_, own.status()));
  TUTTI_TRY_ASSIGN(const std::vector<Facts> all, exchange(*rendezvous_, *own));
  std::uint64_t span = 0;
  same_device_ = true;
  limits_.channels = options_.channels == 0 ? UINT32_MAX : options_.channels;
  const auto is_beside = [&](const Facts& each) { return each.shares_with(*own); };
  const bool shares = std::count_if(all.begin(), all.end(), is_beside) > 1;
  TUTTI_TRY(agree(*rendezvous_, shares ? check_connections() : Status()));
  for (std::uint32_t rank = 0; rank < num_ranks_; ++rank) {
    if (all[rank].terms != own->terms)
      return {Code::invalid_usage,
              fmt::format("rank {} and rank {} differ in channels, slots, scratch, TUTTI_P2P_USE_MEMCPY or how they "
                          "choose algorithms",
                          rank_, rank),
              static_cast<int>(rank)};
    const auto sharing = static_cast<std::uint64_t>(
        std::count_if(all.begin(), all.end(), [&](const Facts& each) { return each.device == all[rank].device; }));
    TUTTI_TRY_ASSIGN(const std::uint32_t share, share_of(all[rank].multiprocessors, sharing));
    limits_.channels = std::min(limits_.channels, share);
    same_device_ = same_device_ && all[rank].shares_with(*own);
    span = std::max(span, all[rank].span);
  }
  TUTTI_TRY(agree(*rendezvous_, set_up(span)));
  TUTTI_TRY(share_region(SharedMemory::make(options_.device, layout_.bytes)));
  return agree(*rendezvous_, tell_addresses());
}

Status DeviceRank::set_up(std::uint64_t span) {
  limits_.threads = kThreads;
  limits_.channel_bytes = options_.channel_bytes;
  limits_.slots_bytes = options_.slots_bytes / 16 * 16;
  limits_.scratch_bytes = options_.scratch_bytes / 16 * 16;
  layout_ = region_layout(num_ranks_, limits_);
  TUTTI_TRY_ASSIGN(failures_, Failures::make(1));
  TUTTI_TRY_ASSIGN(last_call_, DeviceEvent::make());
  cudaStream_t stream = schedules_.stream();
  TUTTI_TRY_ASSIGN(state_, DeviceArray::make(limits_.channels * sizeof(ChannelState), "counters", stream));
  TUTTI_TRY_ASSIGN(peers_, DeviceArray::make(num_ranks_ * sizeof(Peer), "addresses", stream));
  TUTTI_TRY_ASSIGN(SymmetricHeap heap, SymmetricHeap::make(options_.device, rank_, num_ranks_, span));
  heap_ = std::make_unique<SymmetricHeap>(std::move(heap));
  return {};
}

Status DeviceRank::share_region(const Result<SharedMemory>& own) {
  TUTTI_TRY(agree(*rendezvous_, own.status()));
  const Result<UniqueFd> shared = own->descriptor();
  TUTTI_TRY(agree(*rendezvous_, shared.status()));
  std::vector<UniqueFd> descriptors;
  TUTTI_TRY(rendezvous_->exchange(shared->get(), descriptors));
  const auto map = [&](std::uint32_t rank) -> Status {
    TUTTI_TRY_ASSIGN(AddressRange range, AddressRange::reserve(options_.device, own->bytes()));
    if (rank == rank_) {
      TUTTI_TRY(range.map(0, *own));
      cudaStream_t stream = schedules_.stream();
      TUTTI_TRY(cuda_status(cudaMemsetAsync(range.base(), 0, layout_.bytes, stream), "clear device memory"));
      TUTTI_TRY(cuda_status(cudaStreamSynchronize(stream), "clear device memory"));
    } else {
      TUTTI_TRY_ASSIGN(const SharedMemory memory, SharedMemory::open(descriptors[rank].get(), own->bytes()));
      if (const Status mapped = range.map(0, memory); !mapped.ok())
        return mapped.with_context(fmt::format("memory of rank {}", rank));
    }
    regions_.push_back(std::move(range));
    return {};
  };
  Status status;
  for (std::uint32_t rank = 0; status.ok() && rank < num_ranks_; ++rank) status = map(rank);
  return agree(*rendezvous_, status);
}

Status DeviceRank::tell_addresses() {
  std::vector<Peer> peers;
  for (std::uint32_t rank = 0; rank < num_ranks_; ++rank)
    peers.push_back(layout_.peer(regions_[rank].base(), heap_->base(rank)));
  cudaStream_t stream = schedules_.stream();
  TUTTI_TRY(cuda_status(
      cudaMemcpyAsync(peers_.data(), peers.data(), peers.size() * sizeof(Peer), cudaMemcpyHostToDevice, stream),
      "copy to the device"));
  return cuda_status(cudaStreamSynchronize(stream), "set up the device");
}

DeviceRank::~DeviceRank() {
  abort();
  const OnDevice on(options_.device);
  // Memory is given back while nothing uses it.
  static_cast<void>(settle().ok());
  // What was set up in it: to free memory does not wait for that.
  static_cast<void>(cuda_status(cudaStreamSynchronize(schedules_.stream()), "wait for what was set up"));
  heap_.reset();
  regions_.clear();
}

Result<std::byte*> DeviceRank::allocate(std::uint64_t bytes) {
  const OnDevice on(options_.device);
  TUTTI_TRY(on.status());
  return heap_->allocate(bytes, *rendezvous_, schedules_.stream());
}

Status DeviceRank::enroll(const void* buffer, std::uint64_t bytes) {
  const OnDevice on(options_.device);
  TUTTI_TRY(on.status());
  return heap_->enroll(buffer, bytes, *rendezvous_, schedules_.stream());
}

Status DeviceRank::release(const void* memory) {
  const OnDevice on(options_.device);
  TUTTI_TRY(on.status());
  const Result<bool> settled = settle();
  const bool is_settled = settled.ok() && *settled;
  TUTTI_TRY(agree(*rendezvous_, is_settled ? Status() : settled.ok() ? amid_capture() : settled.status()));
  return heap_->release(memory, *rendezvous_);
}

Result<DeviceEvent> DeviceEvent::make() {
  DeviceEvent made;
  TUTTI_TRY(cuda_status(cudaEventCreateWithFlags(&made.event_, cudaEventDisableTiming), "make an event"));
  return made;
}
DeviceEvent::~DeviceEvent() {
  if (event_ != nullptr) static_cast<void>(cuda_status(cudaEventDestroy(event_), "end an event"));
}

Result<bool> DeviceRank::settle() const {
  const OnDevice on(options_.device);
  TUTTI_TRY(on.status());
  // Not the device, if it can be helped: kernels of others may run there, even some that wait for this rank. But the
  // program's own may use symmetric memory.
  cudaError_t waited = cudaSuccess;
  if (was_captured_ || (heap_ != nullptr && heap_->has_allocated()))
    waited = cudaDeviceSynchronize();
  else if (has_called_)
    waited = cudaEventSynchronize(last_call_.get());
  const bool is_amid_capture = waited == cudaErrorStreamCaptureUnsupported;
  TUTTI_TRY(cuda_status(is_amid_capture ? cudaSuccess : waited, "wait for the device"));
  return !is_amid_capture;
}

Result<bool> DeviceRank::is_symmetric(const DevicePart& part, const CallBytes& bytes) const {
  bool all = true;
  for (const auto& [buffer, length] :
       {std::pair(part.input, bytes.input), std::pair<const void*, std::uint64_t>(part.output, bytes.output)}) {
    if (buffer == nullptr || heap_->find(buffer, length).address != nullptr) continue;
    // The ranks could not agree on how to reach it.
    if (heap_->find(buffer, 0).address != nullptr)
      return wrong_argument(fmt::format("of the {} bytes at {} only the first are symmetric memory", length, buffer));
    all = false;
  }
  return all;
}

// Equal handles may mean different streams, one a thread, or one made after another: so every call waits, which costs
// nothing where the stream is the same.
Status DeviceRank::follow_last_call(cudaStream_t stream) const {
  if (!has_called_) return {};
  return cuda_status(cudaStreamWaitEvent(stream, last_call_.get(), 0), "wait for the call before");
}

Status DeviceRank::note_call(cudaStream_t stream) {
  has_called_ = true;
  return cuda_status(cudaEventRecord(last_call_.get(), stream), "note a call in its stream");
}

RankPlace DeviceRank::place(bool is_symmetric) const {
  return {.rank = rank_,
          .num_ranks = num_ranks_,
          .peers = peers_.data<Peer>(),
          .state = state_.data<ChannelState>(),
          .failure = failures_.on_device(0),
          .same_device = same_device_,
          .is_symmetric = is_symmetric,
          .timeout = options_.timeout,
          .limits = limits_};
}

Status DeviceRank::objection(const DeviceCall& call, bool is_symmetric) const {
  return Schedules::shape(call, place(is_symmetric)).status();
}

Status DeviceRank::call(const DeviceCall& call, const DevicePart& part, const CallBytes& bytes, cudaStream_t stream) {
  TUTTI_TRY(check());
  const OnDevice on(options_.device);
  TUTTI_TRY(on.status());
  TUTTI_TRY_ASSIGN(const bool are_symmetric, is_symmetric(part, bytes));
  const RankPlace own = place(are_symmetric);
  DevicePart known = part;
  KnownBuffer input;
  KnownBuffer output;
  if (are_symmetric) {
    // Of memory that was enrolled, the address that the other ranks know.
    if (part.input != nullptr) input = heap_->find(part.input, bytes.input);
    if (part.output != nullptr) output = heap_->find(part.output, bytes.output);
    known.input = input.address;
    known.output = output.address;
    known.input_views = input.views;
    known.output_views = output.views;
  }
  const auto is_for_engines = [](const KnownBuffer& buffer) { return buffer.address == nullptr || buffer.skipped; };
  const bool by_engines = options_.copies_by_engines && are_symmetric && is_for_engines(input) &&
                          is_for_engines(output) && call.schedule->copies(call.in_place) != nullptr;
  cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
  TUTTI_TRY(cuda_status(cudaStreamIsCapturing(stream, &capture), "ask whether the stream is captured"));
  const bool is_captured = capture != cudaStreamCaptureStatusNone;
  if (!is_captured) TUTTI_TRY(follow_last_call(stream));
  if (num_ranks_ == 1 && call.op.op != Op::premultiplied_sum)
    TUTTI_TRY(start_alone(call, part, own, stream));
  else
    TUTTI_TRY(by_engines ? start_copies(call, input, output, own, stream) : start(call, known, own, stream));
  was_captured_ = was_captured_ || is_captured;
  return is_captured ? Status() : note_call(stream);
}

Status DeviceRank::start(const DeviceCall& call, const DevicePart& part, const RankPlace& own, cudaStream_t stream) {
  TUTTI_TRY_ASSIGN(const Shape shape, Schedules::shape(call, own));
  WalkCalls calls;
  TUTTI_TRY_ASSIGN(calls.ranks[0], Schedules::prepare(call, part, shape, own));
  return launch(Schedules::kernel_of(call), calls, 1, shape.channels, stream, words_of(call));
}

// Every collective of one rank is a copy, which CUDA does faster than a kernel that looks for others.
Status DeviceRank::start_alone(const DeviceCall& call, const DevicePart& part, const RankPlace& own,
                               cudaStream_t stream) {
  TUTTI_TRY_ASSIGN(const Shape shape, Schedules::shape(call, own));
  TUTTI_TRY(Schedules::prepare(call, part, shape, own).status());
  if (part.input == part.output) return {};
  return cuda_status(
      cudaMemcpyAsync(part.output, part.input, call.count * size_of(call.op.type), cudaMemcpyDeviceToDevice, stream),
      words_of(call));
}

Status DeviceRank::start_copies(const DeviceCall& call, const KnownBuffer& input, const KnownBuffer& output,
                                const RankPlace& own, cudaStream_t stream) {
  // That the call is right, as start() finds it.
  TUTTI_TRY_ASSIGN(const Shape shape, Schedules::shape(call, own));
  TUTTI_TRY(Schedules::prepare(call, {.input = input.address, .output = output.address}, shape, own).status());
  const Schedule& schedule = call.schedule->schedule();
  const CollectiveFacts& facts = facts_of(schedule.collective);
  const auto element = static_cast<std::uint32_t>(size_of(call.op.type));
  const std::uint64_t block = call.count * element;
  const std::uint64_t piece =
      (call.count + schedule.division(Space::input).pieces - 1) / schedule.division(Space::input).pieces;
  // In place, a rank's input may be its block of the output; then the outputs are at the same place, and inputs are
  // not.
  const bool is_own_block = call.in_place && facts.many_outputs && !facts.many_inputs;
  const auto address = [&](const WordEnd& end) {
    const bool is_output = end.base == WordBase::output;
    if (!end.is_remote) return (is_output ? output : input).address + end.block * block;
    if (is_output || !is_own_block) return heap_->reach(end.rank, is_output ? output : input) + end.block * block;
    return heap_->reach(end.rank, output) + end.rank * block;
  };
  const auto copy_all = [&](const std::vector<Copy>& copies) -> Status {
    for (const Copy& copy : copies) {
      const CopyRange range = range_of(copy, call.count, piece, element);
      const std::byte* const from = address(copy.source) + range.begin;
      std::byte* const into = address(copy.destination) + range.begin;
      if (range.bytes == 0 || from == into) continue;
      TUTTI_TRY(
          cuda_status(cudaMemcpyAsync(into, from, range.bytes, cudaMemcpyDeviceToDevice, stream), words_of(call)));
    }
    return {};
  };
  const bool tells_input = !facts.has_root && !is_own_block;
  const auto meet = [&](std::uint64_t phase) {
    WalkCalls meeting;
    meeting.ranks[0] = Schedules::meeting(call, tells_input ? input.place : kNotTold, output.place, phase, own);
    return launch(flags_kernel(), meeting, 1, 1, stream, words_of(call));
  };
  const CopyProgram& copies = (*call.schedule->copies(call.in_place))[rank_];
  TUTTI_TRY(meet(0));
  Status rest = copy_all(copies.between);
  if (rest.ok()) rest = meet(1);
  if (rest.ok()) rest = copy_all(copies.behind);
  // The others wait for the second meeting, or have it already for a call that is not done.
  if (!rest.ok()) failures_.abort();
  return rest;
}

}  // namespace tutti::device
