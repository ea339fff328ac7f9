#include "runtime/communicator.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include "algorithms/registry.hpp"
#include "runtime/bootstrap.hpp"
#include "schedule/programs.hpp"
#include "schedule/well_formed.hpp"

namespace tutti {

namespace {

// The cores that this thread may run on, as the words of the region's control page.
std::array<std::uint64_t, shm::kMaxCores / 64> own_cores() {
  std::array<std::uint64_t, shm::kMaxCores / 64> words{};
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return words;
  for (std::size_t core = 0; core < CPU_SETSIZE && core < shm::kMaxCores; ++core)
    if (CPU_ISSET(core, &set)) words[core / 64] |= std::uint64_t{1} << (core % 64);
  return words;
}

// How many cores the ranks have together.
std::uint32_t shared_cores(const shm::Region& region) {
  std::uint32_t count = 0;
  for (std::size_t word = 0; word < shm::kMaxCores / 64; ++word) {
    std::uint64_t any = 0;
    for (std::uint32_t rank = 0; rank < region.shape().num_ranks; ++rank)
      any |= region.cores(rank, word).load(std::memory_order_relaxed);
    count += static_cast<std::uint32_t>(std::popcount(any));
  }
  return std::max(count, 1U);
}

// From this size on rounds are shorter than a slot may be: input, output and slots then compete for the caches, and the
// less of a slot is used, the more of it stays: all slots together, half of a core's own cache, if that is enough
// (docs/design/executor.md).
constexpr std::uint64_t kLongBytes = std::uint64_t{8} << 20;
constexpr std::uint64_t kShortestRound = std::uint64_t{32} << 10;
constexpr std::uint64_t kRoundUnit = 4096;

constexpr std::string_view kSmallAlgorithm = "one_shot";

std::uint32_t num_algorithms() { return static_cast<std::uint32_t>(algorithms_of(Collective::all_reduce).size()); }

std::uint32_t small_number() { return number_of(*find_algorithm(Collective::all_reduce, kSmallAlgorithm)); }

}  // namespace

Communicator::Communicator(std::shared_ptr<const shm::Region> region, std::uint32_t rank, const Settings& settings,
                           Log& log)
    : region_(std::move(region)),
      rank_(rank),
      num_ranks_(region_->shape().num_ranks),
      settings_(settings),
      log_(log),
      process_(getpid()),
      heap_(*region_, rank) {
  plans_.resize(num_algorithms());
  for (int op = 0; op < kNumOps; ++op)
    for (int type = 0; type < kNumTypes; ++type) {
      Prepared& entry = prepared_[static_cast<std::size_t>(op)][static_cast<std::size_t>(type)];
      Operator& operation = entry.small.operation;
      operation = {.op = static_cast<Op>(op), .type = static_cast<Type>(type), .divisor = num_ranks_};
      // These two come with something of the caller's: create_operator() makes them.
      if (operation.op == Op::user || operation.op == Op::premultiplied_sum) continue;
      entry.small.kernel = reduce_kernel(operation.type, operation.op, false);
      entry.small.element = size_of(operation.type);
      entry.small.description =
          CallDescription{.type = operation.type, .op = operation.op, .algorithm = small_number()}.pack();
      entry.streaming = reduce_kernel(operation.type, operation.op, true);
    }
}

Result<std::unique_ptr<Communicator>> Communicator::join(const UniqueId& id, int num_ranks, int rank,
                                                         std::uint64_t generation, const Variables& variables,
                                                         Log& log) {
  Settings settings = Settings::from(variables);
  const auto shape_for = [&settings](int ranks) {
    shm::RegionShape shape = settings.region;
    shape.num_ranks = static_cast<std::uint32_t>(ranks);
    return shape;
  };
  const JoinRequest request{
      .id = id,
      .rank = rank,
      .num_ranks = num_ranks,
      .generation = generation,
      .configuration = settings.agreement(variables),
      .region_bytes = [&](int ranks) { return Bytes(shm::region_bytes(shape_for(ranks))); },
  };
  const JoinOptions options{
      .late_warning = variables.get<VariableId::late_warning>(),
      .timeout = variables.get<VariableId::timeout>(),
      .warn = [&log](std::string_view text) { log.warn(LogSubsystem::init, "{}", text); },
  };
  Result<Membership> membership = tutti::join(request, options);
  // The others know by now that this rank has no file; it itself knows why.
  if (settings.file && !settings.file->unread.ok()) return settings.file->unread;
  if (!membership.ok()) return membership.status();
  Result<std::unique_ptr<shm::Region>> region = shm::Region::map(std::move(membership->region), shape_for(num_ranks));
  if (!region.ok()) return region.status();

  std::unique_ptr<Communicator> communicator(
      new Communicator(std::move(*region), static_cast<std::uint32_t>(rank), settings, log));
  // All ranks have the same text, so all come to the same end here.
  if (Status status = communicator->take_file(); !status.ok()) return status;
  // The watch's thread ends before the region goes: see the order of the members.
  const shm::Region* shared = communicator->region_.get();
  const auto mark = [shared](Code code) {
    return [shared, code](int which, auto&&...) { shared->break_with({code, static_cast<std::uint32_t>(which)}); };
  };
  Result<std::unique_ptr<FailureWatch>> watch =
      FailureWatch::start(std::move(membership->links), {.on_lost = mark(Code::rank_lost),
                                                         .on_left = [shared](int) { shared->wake_all(); },
                                                         .on_abort = mark(Code::aborted)});
  if (!watch.ok()) return watch.status();
  communicator->watch_ = std::move(*watch);
  if (Status status = communicator->arrive(); !status.ok()) return status;
  log.info(LogSubsystem::init, "communicator of {} ranks, {} cores, staging {} x {} B", num_ranks,
           shared_cores(*shared), settings.region.staging_depth, settings.region.staging_slot);
  return communicator;
}

std::unique_ptr<Communicator> Communicator::over(std::shared_ptr<const shm::Region> region, int rank,
                                                 const Settings& settings, Log& log) {
  std::unique_ptr<Communicator> communicator(
      new Communicator(std::move(region), static_cast<std::uint32_t>(rank), settings, log));
  const Status taken = communicator->take_file();
  TUTTI_ASSERT(taken.ok(), "who names a file for ranks of one process has a right one");
  const Status arrived = communicator->arrive();
  TUTTI_ASSERT(arrived.ok(), "ranks of one process cannot be lost");
  return communicator;
}

Status Communicator::take_file() {
  if (!settings_.file) return {};
  TUTTI_TRY(settings_.file->unread);
  Result<OwnAlgorithm> own = own_algorithm(*settings_.file, num_ranks_, region_->shape());
  if (!own.ok()) return own.status();
  own_ = std::move(*own);
  settings_.file.reset();  // its text may be large
  return {};
}

// Tells the others which cores this rank runs on, waits for theirs, and gets ready.
Status Communicator::arrive() {
  const auto words = own_cores();
  for (std::size_t word = 0; word < words.size(); ++word)
    region_->cores(rank_, word).store(words[word], std::memory_order_relaxed);
  const auto persist_here = [this](std::chrono::nanoseconds waited) { return persist(waited); };
  // Before all have arrived nobody knows how crowded it is; yielding suits either case.
  shm::Waiter first(
      *region_, rank_,
      {.eager = 0, .spin = {}, .timeout = settings_.timeout, .longest_sleep = std::chrono::milliseconds(5)},
      persist_here);
  // After the waiter has registered with membarrier.
  if (rank_ == 0) region_->core_cache().store(settings_.core_cache, std::memory_order_relaxed);
  region_->call(rank_).has_membarrier.store(first.has_membarrier() ? 1 : 0, std::memory_order_relaxed);
  region_->call(rank_).presence.store(shm::Presence::here, std::memory_order_release);
  first.wake_others();
  const shm::WaitEnd end = first.until([this] {
    for (std::uint32_t peer = 0; peer < num_ranks_; ++peer)
      if (region_->call(peer).presence.load(std::memory_order_acquire) == shm::Presence::none) return false;
    return true;
  });
  if (end != shm::WaitEnd::ready)
    return fail(end == shm::WaitEnd::timed_out  ? End::timed_out
                : end == shm::WaitEnd::given_up ? End::mismatched
                                                : End::broken);
  settings_.core_cache = region_->core_cache().load(std::memory_order_relaxed);
  shm::WaitPolicy policy = shm::wait_policy(num_ranks_, shared_cores(*region_));
  bool all_have_membarrier = true;
  for (std::uint32_t peer = 0; peer < num_ranks_; ++peer)
    all_have_membarrier =
        all_have_membarrier && region_->call(peer).has_membarrier.load(std::memory_order_relaxed) != 0;
  if (all_have_membarrier) policy.longest_sleep = shm::kLongestSleep;
  if (settings_.spin) policy.spin = *settings_.spin;
  policy.yield = settings_.yield;
  policy.timeout = settings_.timeout;
  waiter_.emplace(*region_, rank_, policy, persist_here);
  executor_.emplace(*region_, rank_, *waiter_);

  // The small path is open where nothing is forced that it could not be.
  if (settings_.walker == WalkerChoice::generic || num_ranks_ == 1) return {};
  if (!settings_.algorithm.empty() && settings_.algorithm != kSmallAlgorithm) return {};
  std::uint32_t number = 0;
  const Result<const Plan*> plan = plan_for(kSmallAlgorithm, number);
  if (!plan.ok()) return plan.status();
  executor_->set_small_plan(**plan);
  small_end_ = std::min(region_->shape().staging_slot + 1, kAlwaysOneShot);
  return {};
}

Communicator::~Communicator() {
  // Rank 0 tells the others of each other, so it stays a little for those who have yet to leave.
  constexpr Nanos kLinger{2'000'000'000};
  if (getpid() != process_) {
    return;  // a child that the rank forked: the rank itself has not left
  }
  region_->call(rank_).presence.store(shm::Presence::left, std::memory_order_release);
  region_->wake_all();
  if (watch_) watch_->stop(kLinger);
}

Result<const Plan*> Communicator::plan_of(std::uint32_t number, const Schedule& schedule) {
  if (number >= plans_.size()) plans_.resize(number + 1);
  if (plans_[number] == nullptr) {
    Result<Plan> plan = make_plan(schedule, rank_);
    if (!plan.ok()) return plan.status();
    plans_[number] = std::make_unique<const Plan>(std::move(*plan));
  }
  return plans_[number].get();
}

Result<const Plan*> Communicator::plan_for(std::string_view name, std::uint32_t& number) {
  if (own_ && name == settings_.algorithm) {
    number = num_algorithms();
    return plan_of(number, own_->schedule);
  }
  const Algorithm* algorithm = find_algorithm(Collective::all_reduce, name);
  if (algorithm == nullptr)
    return Status(Code::invalid_argument, fmt::format("no all-reduce algorithm is called '{}'", name));
  number = number_of(*algorithm);
  if (plans_[number] != nullptr) return plans_[number].get();
  return plan_of(number, algorithm->make({.collective = Collective::all_reduce, .num_ranks = num_ranks_}));
}

Result<const Communicator::Prepared*> Communicator::prepared(Type type, OperatorHandle op) const {
  if (static_cast<int>(type) >= kNumTypes)
    return Status(Code::invalid_argument,
                  fmt::format("{} is no type; 0 to {} are", static_cast<int>(type), kNumTypes - 1));
  if (op.value < kNumOps) {
    const Prepared& entry = prepared_[op.value][static_cast<std::size_t>(type)];
    if (entry.small.kernel == nullptr)
      return Status(Code::invalid_argument, fmt::format("the operator {} is not defined on {}",
                                                        name_of(static_cast<Op>(op.value)), name_of(type)));
    return &entry;
  }
  const std::uint32_t index = op.value - OperatorHandle::kFirstCustom;
  if (op.value < OperatorHandle::kFirstCustom || index >= custom_.size() || !custom_[index])
    return Status(Code::invalid_argument, fmt::format("{} is no operator of this communicator", op.value));
  if (custom_[index]->small.operation.type != type)
    return Status(Code::invalid_argument, fmt::format("the operator was made for {}, not for {}",
                                                      name_of(custom_[index]->small.operation.type), name_of(type)));
  return &*custom_[index];
}

Status Communicator::check_buffers(const void* input, const void* output, std::uint64_t count, Type type) const {
  if (count > kMaxCount)
    return {Code::invalid_argument, fmt::format("{} elements are too many; {} are possible", count, kMaxCount)};
  if (count == 0) return {};
  if (input == nullptr || output == nullptr)
    return {Code::invalid_argument,
            fmt::format("the {} is null, and {} elements are asked for", input == nullptr ? "input" : "output", count)};
  if (input == output) return {};
  const auto* from = static_cast<const std::byte*>(input);
  const auto* to = static_cast<const std::byte*>(output);
  const std::uint64_t bytes = count * size_of(type);
  if (from < to + bytes && to < from + bytes)
    return {Code::invalid_argument, fmt::format("input and output overlap by {} bytes; they must be the same or apart",
                                                from < to ? bytes - static_cast<std::uint64_t>(to - from)
                                                          : bytes - static_cast<std::uint64_t>(from - to))};
  return {};
}

Status Communicator::all_reduce(const void* input, void* output, std::uint64_t count, Type type, OperatorHandle op) {
  const End end = try_small(input, output, count, type, op);
  if (end == End::done) return {};
  if (end != End::not_begun) return fail(end);
  return all_reduce_chosen(input, output, count, type, op);
}

Choice Communicator::choose(const Operator& operation, const void* input, const void* output,
                            std::uint64_t bytes) const {
  return choose_all_reduce({
      .num_ranks = num_ranks_,
      .bytes = bytes,
      .symmetric = heap_.find(input, bytes).segment != nullptr && heap_.find(output, bytes).segment != nullptr,
      .in_place = input == output,
      .op = operation.op,
      .commutative = operation.commutative,
      .forced = settings_.algorithm,
      .own = own_ ? &own_->facts : nullptr,
  });
}

Result<Choice> Communicator::choice_for(const void* input, const void* output, std::uint64_t count, Type type,
                                        OperatorHandle op) const {
  const Result<const Prepared*> entry = prepared(type, op);
  if (!entry.ok()) return entry.status();
  TUTTI_TRY(check_buffers(input, output, count, type));
  return choose((*entry)->small.operation, input, output, count * size_of(type));
}

Status Communicator::all_reduce_chosen(const void* input, void* output, std::uint64_t count, Type type,
                                       OperatorHandle op) {
  if (region_->is_broken()) return failure();
  const Result<const Prepared*> entry = prepared(type, op);
  if (!entry.ok()) return entry.status();
  TUTTI_TRY(check_buffers(input, output, count, type));
  const std::uint64_t bytes = count * size_of(type);
  const Choice choice = choose((*entry)->small.operation, input, output, bytes);
  if (choice.is_fallback)
    log_.warn_once(LogSubsystem::coll, choice.why, "TUTTI_ALLREDUCE_ALGORITHM={} cannot be followed ({}); {} runs",
                   settings_.algorithm, choice.why, choice.algorithm);
  std::uint32_t number = 0;
  const Result<const Plan*> plan = plan_for(choice.algorithm, number);
  if (!plan.ok()) return plan.status();
  log_.info(LogSubsystem::coll, "all_reduce {} B of {}: {} ({})", bytes, name_of(type), choice.algorithm, choice.why);
  return run(**plan, number, **entry, input, output, count, settings_.walker);
}

Status Communicator::all_reduce_by(const Schedule& schedule, std::uint32_t number, const void* input, void* output,
                                   std::uint64_t count, Type type, OperatorHandle op, WalkerChoice walker) {
  if (region_->is_broken()) return failure();
  if (schedule.num_ranks != num_ranks_)
    return {Code::invalid_argument,
            fmt::format("the schedule is for {} ranks, and the communicator has {}", schedule.num_ranks, num_ranks_)};
  const Result<const Prepared*> entry = prepared(type, op);
  if (!entry.ok()) return entry.status();
  TUTTI_TRY(check_buffers(input, output, count, type));
  const std::uint32_t first = num_algorithms() + 1;  // the settings' file has the one in between
  const std::uint32_t own_number = first + number;
  if (own_number > CallDescription::kMostAlgorithm)
    return {Code::invalid_argument,
            fmt::format("a communicator keeps {} schedules beside its algorithms, and {} is asked for",
                        CallDescription::kMostAlgorithm + 1 - first, number)};
  // What is in the registry is proven; this may come from anywhere.
  if (own_number >= plans_.size() || plans_[own_number] == nullptr)
    if (const auto fault = find_malformed(Programs(schedule, Fusion::none)))
      return {Code::invalid_argument,
              fmt::format("the schedule {} is malformed: {}", schedule.name, fault->to_string())};
  const Result<const Plan*> plan = plan_of(own_number, schedule);
  if (!plan.ok()) return plan.status();
  return run(**plan, own_number, **entry, input, output, count, walker);
}

Status Communicator::set_layout(Call& call, std::uint64_t count) const {
  const Plan& plan = *call.plan;
  const shm::RegionShape& shape = region_->shape();
  std::uint64_t window = ~std::uint64_t{0};
  if (plan.has_messages) window = std::min(window, shape.message_slot / plan.widest_message / call.element);
  if (plan.exposes_per_round > 0 && !call.by_name) {
    const std::uint64_t share = settings_.core_cache / 2 / shape.staging_depth / kRoundUnit * kRoundUnit;
    const std::uint64_t long_round = std::max(kShortestRound, share);
    const std::uint64_t slot =
        count * call.element < kLongBytes ? shape.staging_slot : std::min(shape.staging_slot, long_round);
    window = std::min(window, slot / plan.widest_expose / call.element);
    if (plan.exposes_per_round > shape.staging_depth)
      return {Code::unsupported,
              fmt::format("{} exposes {} times a round and there are {} staging slots; set TUTTI_STAGING_DEPTH to at "
                          "least that",
                          plan.schedule.name, plan.exposes_per_round, shape.staging_depth)};
  }
  if (window == 0)
    return {Code::unsupported,
            fmt::format("{} has {} pieces in one slot, which is too small for them; set TUTTI_STAGING_SLOT higher",
                        plan.schedule.name, std::max(plan.widest_message, plan.widest_expose))};
  call.rounds = 1;
  std::uint64_t widest = 1;
  for (std::size_t space = 0; space < kNumSpaces; ++space) {
    const Division& division = plan.schedule.spaces[space];
    if (division.blocks == 0) continue;
    // Of an all-reduce every block, of scratch too, is as large as the whole.
    const PieceLayout layout(count, division.pieces, window);
    call.rounds = std::max(call.rounds, layout.num_rounds());
    call.block_elements[space] = count;
    widest = std::max(widest, (count + division.pieces - 1) / division.pieces);
  }
  // Packed pieces lie a window apart; where one round carries them whole, exactly as in memory.
  call.window = std::min(window, widest);
  for (std::size_t space = 0; space < kNumSpaces; ++space)
    if (const Division& division = plan.schedule.spaces[space]; division.blocks != 0)
      call.layouts[space] = PieceLayout(count, division.pieces, call.window);
  return {};
}

Status Communicator::run(const Plan& plan, std::uint32_t number, const Prepared& entry, const void* input, void* output,
                         std::uint64_t count, WalkerChoice walker) {
  Call call;
  call.plan = &plan;
  call.input = static_cast<const std::byte*>(input);
  call.output = static_cast<std::byte*>(output);
  call.element = size_of(entry.small.operation.type);
  call.operation = &entry.small.operation;
  const std::uint64_t bytes = count * call.element;
  const std::uint64_t written = plan.needs_symmetric ? bytes * num_ranks_ : bytes;
  const bool streaming =
      settings_.stream_min ? bytes >= *settings_.stream_min : should_stream(written, settings_.last_level_cache);
  // A message's slot is read at once by its receiver: that must not go past the cache.
  call.kernel = streaming && !plan.has_messages ? entry.streaming : entry.small.kernel;
  if (plan.needs_symmetric) {
    call.by_name = true;
    call.symmetric_input = heap_.find(input, bytes);
    call.symmetric_output = heap_.find(output, bytes);
    if (call.symmetric_input.segment == nullptr || call.symmetric_output.segment == nullptr)
      return {Code::invalid_usage, fmt::format("{} needs input and output in symmetric memory", plan.schedule.name)};
    if (entry.small.operation.op == Op::premultiplied_sum)
      return {Code::unsupported, fmt::format("{} cannot scale the inputs that it reads by name", plan.schedule.name)};
  }
  call.description =
      CallDescription{
          .count = count, .type = entry.small.operation.type, .op = entry.small.operation.op, .algorithm = number}
          .pack();
  TUTTI_TRY(set_layout(call, count));
  try {
    if (const Division& scratch = plan.schedule.division(Space::scratch); scratch.blocks > 0) {
      if (scratch_.size() < scratch.blocks * bytes) scratch_.resize(scratch.blocks * bytes);
      call.scratch = scratch_.data();
    }
    const End end = executor_->run(call, walker);
    return end == End::done ? Status() : fail(end);
  } catch (const std::bad_alloc&) {
    // This rank cannot take part, and the others wait for it.
    region_->break_with({Code::system, rank_});
    return {Code::system, fmt::format("there is no memory for {}; its scratch is {} blocks of {} bytes", present_call(),
                                      plan.schedule.division(Space::scratch).blocks, bytes)};
  } catch (const std::exception& error) {
    // A caller's operator that throws: this rank stands in the middle of the operation, and the others wait for it.
    region_->break_with({Code::internal, rank_});
    return {Code::internal, fmt::format("in the middle of {}: {}", present_call(), error.what())};
  }
}

// Whether all ranks have come with the same number, and the least that any has come with.
Result<std::uint64_t> Communicator::agree(std::uint64_t mine, std::string_view on_what) {
  // The minimum of a number and of its complement: together the least and the greatest.
  const std::uint64_t sent[2] = {mine, ~mine};
  std::uint64_t least[2] = {0, 0};
  const auto op = OperatorHandle{static_cast<std::uint32_t>(Op::minimum)};
  TUTTI_TRY(all_reduce(sent, least, 2, Type::u64, op));
  if (least[0] == 0 || least[0] == ~least[1]) return least[0];
  return Status(Code::invalid_usage, fmt::format("the ranks differ in {}: the least is {} and the greatest {}", on_what,
                                                 least[0], ~least[1]));
}

Result<void*> Communicator::allocate(std::uint64_t bytes) {
  if (region_->is_broken()) return failure();
  const Result<std::byte*> part = heap_.allocate(bytes);
  // All or none: who failed, or wants another size, tells the others before anyone touches anything.
  const Result<std::uint64_t> agreed = agree(part.ok() ? bytes : 0, "the bytes that they allocate");
  if (part.ok() && agreed.ok() && *agreed != 0) return static_cast<void*>(*part);
  if (part.ok()) TUTTI_TRY(heap_.free(*part));
  if (!part.ok()) return part.status();
  if (!agreed.ok()) return agreed.status();
  return Status(Code::system, fmt::format("another rank could not set {} bytes of symmetric memory aside", bytes));
}

Status Communicator::free(void* memory) {
  if (region_->is_broken()) return memory == nullptr ? Status() : heap_.free(memory);
  // Nobody is still at work on anybody's part once all have come here, and all must mean the same.
  constexpr std::uint64_t kNothing = 1;  // freeing null; segments lie further on
  const std::uint64_t mine = memory == nullptr ? kNothing : heap_.segment_of(memory);
  const Result<std::uint64_t> agreed = agree(mine, "the symmetric memory that they free");
  if (!agreed.ok()) return agreed.status();
  if (mine == kNothing) return {};
  if (*agreed != mine && mine != 0)
    return {Code::invalid_usage, "another rank frees what is not the beginning of its symmetric memory"};
  return heap_.free(memory);
}

Result<OperatorHandle> Communicator::create_operator(const Operator& custom) {
  Prepared entry;
  entry.small.operation = custom;
  entry.small.operation.divisor = num_ranks_;
  entry.small.kernel = reduce_kernel(custom.type, custom.op, false);
  entry.streaming = reduce_kernel(custom.type, custom.op, true);
  if (entry.small.kernel == nullptr)
    return Status(Code::invalid_argument,
                  fmt::format("the operator {} is not defined on {}", name_of(custom.op), name_of(custom.type)));
  const auto empty = std::find(custom_.begin(), custom_.end(), std::nullopt);
  const auto index = static_cast<std::uint32_t>(empty - custom_.begin());
  if (empty == custom_.end()) {
    custom_.emplace_back(entry);
  } else {
    *empty = entry;
  }
  return OperatorHandle{OperatorHandle::kFirstCustom + index};
}

Status Communicator::destroy_operator(OperatorHandle handle) {
  const std::uint32_t index = handle.value - OperatorHandle::kFirstCustom;
  if (handle.value < OperatorHandle::kFirstCustom || index >= custom_.size() || !custom_[index])
    return {Code::invalid_argument, fmt::format("{} is no operator made for this communicator", handle.value)};
  custom_[index].reset();
  return {};
}

}  // namespace tutti
