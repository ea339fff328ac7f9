// SPDX-License-Identifier: Apache-2.0
// A call, from what is asked to the executor: arguments, the way to do it, the cut into rounds.
#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/counted.hpp"
#include "runtime/communicator/communicator.hpp"
#include "runtime/progress/thread_work.hpp"
#include "schedule/programs.hpp"
#include "schedule/prove/definition.hpp"
#include "schedule/prove/well_formed.hpp"

namespace tutti {

namespace {

constexpr std::uint64_t kRoundUnit = 4096;

bool goes_unheard(const Call& call, std::uint64_t count) {
  const CollectiveFacts& facts = facts_of(call.plan->schedule.collective);
  const bool scans = call.plan->schedule.collective == Collective::scan ||
                     call.plan->schedule.collective == Collective::exclusive_scan;
  return facts.has_root || scans || (call.plan->has_messages && count == 0);
}

}  // namespace

Result<const Communicator::Prepared*> Communicator::prepared(const Invocation& asked) const {
  const Type type = asked.type;
  // What is only moved is a sum of one contribution.
  const OperatorHandle op = facts_of(asked.collective).folds ? asked.op : OperatorHandle{};
  if (static_cast<int>(type) >= kNumTypes)
    return Status(Code::invalid_argument,
                  fmt::format("{} is no type; 0 to {} are", static_cast<int>(type), kNumTypes - 1));
  const bool scans = asked.collective == Collective::scan || asked.collective == Collective::exclusive_scan;
  if (scans && op.value == static_cast<std::uint32_t>(Op::average))
    return Status(Code::invalid_argument, fmt::format("there is no average of a {}", name_of(asked.collective)));
  const bool is_made =
      op.value == static_cast<std::uint32_t>(Op::user) || op.value == static_cast<std::uint32_t>(Op::premultiplied_sum);
  if (op.value < kNumOps && !is_made) {
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

Status Communicator::all_reduce(const void* input, void* output, std::uint64_t count, Type type, OperatorHandle op) {
  if (const SmallOperator* const entry = enter_small(input, output, count, type, op)) {
    const End end = run_small(*entry, input, output, count);
    return end == End::done ? Status() : fail(end);
  }
  return run({.input = input, .output = output, .count = count, .type = type, .op = op});
}

Status Communicator::run(const Invocation& asked) {
  if (is_over()) return failure();
  return guarded(name_of(asked.collective), [&]() -> Status {
    if (asked.varying != nullptr) return run_varying(asked);
    Result<BoundCall*> bound = bound_for(asked);
    return bound.ok() ? walk(**bound, asked, settings_.walker) : bound.status();
  });
}

Result<BoundCall*> Communicator::bound_for(const Invocation& asked) {
  // In front of the key, which has no room for others.
  if (asked.root >= num_ranks_ || asked.op.value > OperatorHandle::kMost) [[unlikely]]
    return refuse(asked);
  const std::uint64_t key = BoundCall::key_of(asked);
  BoundCall& bound = bound_[BoundCall::place_of(key, asked.count)];
  if (!bound.suits(asked, key) || has_symmetric(asked, bound.buffers) != bound.symmetric) TUTTI_TRY(bind(asked, bound));
  return &bound;
}

Status Communicator::break_for_memory(std::string_view in_what) {
  // This rank cannot take part, and the others wait for it.
  break_all({Code::system, rank_});
  return {Code::system, fmt::format("there is no memory for {}", in_what)};
}

Status Communicator::break_for_exception(std::string_view words) {
  // A caller's operator that throws: this rank stands in the middle of the operation, and the others wait for it.
  break_all({Code::internal, rank_});
  return {Code::internal, fmt::format("in the middle of {}: {}", present_call(), words)};
}

Status Communicator::refuse(const Invocation& asked) const {
  if (asked.root >= num_ranks_)
    return {Code::invalid_argument, fmt::format("the root is rank {}; of {} it must be 0 to {}",
                                                static_cast<std::int32_t>(asked.root), num_ranks_, num_ranks_ - 1)};
  return {Code::invalid_argument,
          fmt::format("{} is no operator of this communicator", static_cast<std::int32_t>(asked.op.value))};
}

Result<Choice> Communicator::choice_for(const Invocation& asked) {
  if (asked.root >= num_ranks_ || asked.op.value > OperatorHandle::kMost) return refuse(asked);
  BoundCall bound;
  const Prepared* entry = nullptr;
  return choose(asked, bound, entry);
}

// With the buffers, and what is known of the operator.
Result<Choice> Communicator::choose(const Invocation& asked, BoundCall& bound, const Prepared*& entry) {
  const Result<const Prepared*> found = prepared(asked);
  if (!found.ok()) return found.status();
  entry = *found;
  const Result<Buffers> buffers = find_buffers(asked, rank_, num_ranks_);
  if (!buffers.ok()) return buffers.status();
  bound.buffers = *buffers;
  bound.symmetric = has_symmetric(asked, *buffers);
  return selector_.choose(asked.collective, buffers->message_bytes, facts_of_call(asked, bound, *entry));
}

CallFacts Communicator::facts_of_call(const Invocation& asked, const BoundCall& bound, const Prepared& entry) const {
  const Operator& operation = entry.small.operation;
  const std::uint64_t bytes = bound.buffers.message_bytes;
  // Lists alone reach attached memory, and a size that is set keeps the system out below.
  const bool may_attach = settings_.walker != WalkerChoice::generic && bytes >= settings_.attach_min.value_or(0);
  const bool can_attach = may_attach && can_attach_;
  const auto pays = [&](bool stores) {
    return can_attach && (settings_.attach_min || profile_.pays_to_attach(asked.collective, bytes, num_ranks_,
                                                                          waiter_->policy().crowded, stores));
  };
  return {.symmetric = bound.symmetric,
          .can_store_attached = may_attach && can_store_attached_,
          .can_attach = can_attach,
          .pays_to_attach = pays(false),
          .pays_to_store_attached = pays(true),
          .crowded = waiter_->policy().crowded,
          .in_place = bound.buffers.in_place,
          .op = operation.op,
          .commutative = operation.commutative,
          .root = asked.root,
          .types = class_of(asked.type)};
}

// Of a call of nothing nobody minds, and its buffers lie nowhere.
void Communicator::warn_of_fallback(const Choice& choice, const Buffers& buffers) {
  if (choice.unfollowed == nullptr || buffers.message_bytes == 0) return;
  const Collective collective = choice.way->collective;
  const bool is_forced = choice.unfollowed == selector_.forced(collective);
  const std::string_view asked_by = is_forced ? forcing_variable(collective) : choice.asked_by;
  // Each way and reason once. Nothing is put together before, since calls come by here over and over.
  const std::array<const void*, 2> key = {choice.unfollowed, choice.why.data()};
  const std::string_view once(reinterpret_cast<const char*>(key.data()), sizeof key);
  // A table is for all calls of a size, and some of them may need another way.
  if (choice.asked_by_table)
    return log_.info_once(LogSubsystem::coll, once, "{}: {} cannot be followed ({}); {} runs", asked_by,
                          choice.unfollowed->name, choice.why, choice.way->name);
  log_.warn_once(LogSubsystem::coll, once, "{}{}{} cannot be followed ({}); {} runs", asked_by, is_forced ? "=" : "",
                 is_forced ? std::string_view(choice.unfollowed->name) : std::string_view(), choice.why,
                 choice.way->name);
}

Status Communicator::bind(const Invocation& asked, BoundCall& bound) {
  bound.asked = 0;
  const Prepared* entry = nullptr;
  const Result<Choice> choice = choose(asked, bound, entry);
  if (!choice.ok()) return choice.status();
  Way& way = *choice->way;
  warn_of_fallback(*choice, bound.buffers);
  const Result<const Plan*> plan = portfolio_.plan(way, asked.root);
  if (!plan.ok()) return plan.status();
  // Some ranks may take the small path where others do not, as those that have begun something.
  const bool is_small = asked.collective == Collective::all_reduce && entry->small.kernel != nullptr &&
                        bound.buffers.message_bytes <
                            (bound.symmetric ? std::min(symmetric_small_end_, entry->small.end) : entry->small.end);
  const CallFacts facts = facts_of_call(asked, bound, *entry);
  const Reach reach =
      is_small ? Reach::staged : reach_of(**plan, is_name_safe(way, facts), facts, bound, choice->tuning);
  log_choice(*choice, bound.buffers.message_bytes, asked.type, reach);
  bound.call.tuning = choice->tuning;
  TUTTI_TRY(make_call(**plan, way.number, reach, *entry, asked, bound));
  bound.counted = &counts_.row(asked.collective, &way.name, reach);
  bound.why = choice->why;
  // Operators that are made come and go, and others take their numbers.
  if (asked.op.value < OperatorHandle::kFirstCustom) bound.asked = BoundCall::key_of(asked);
  bound.count = asked.count;
  return {};
}

// How the others read what this rank exposes. A copy into a slot is soon done where it is small; a larger one is saved.
Reach Communicator::reach_of(const Plan& plan, bool name_safe, const CallFacts& facts, const BoundCall& bound,
                             const CallTuning* tuning) const {
  if (plan.opens) return facts_of(plan.schedule.collective).has_root ? Reach::attached : Reach::symmetric;
  // Nobody knows where in the others' buffers their blocks begin.
  if (facts_of(plan.schedule.collective).varies) return Reach::staged;
  // Each post has a place of its own to say where the buffer lies. And with a root some ranks lack a buffer, by which
  // they could tell where the others have theirs.
  if (!name_safe || plan.posts_per_round > shm::kMaxPlaces) return Reach::staged;
  // What follows depends on the machine, and hosts must answer alike.
  if (endpoint_ != nullptr) return Reach::staged;
  const std::uint64_t bytes = bound.buffers.message_bytes;
  if (bound.symmetric && !facts_of(plan.schedule.collective).has_root)
    return bytes >= profile_.lists_by_name_from ? Reach::symmetric : Reach::staged;
  // Lists begin with all posts.
  const CallTuning::Copies copies =
      tuning == nullptr || settings_.attach_min ? CallTuning::Copies::by_profile : tuning->copies;
  const bool attaches =
      copies == CallTuning::Copies::by_profile ? facts.pays_to_attach : copies == CallTuning::Copies::attached;
  return plan.posts_first && facts.can_attach && attaches ? Reach::attached : Reach::staged;
}

// Ranks must answer alike: what is asked of no elements may lie anywhere, and somewhere else on each rank.
bool Communicator::has_symmetric(const Invocation& asked, const Buffers& buffers) const {
  return heap_.is_used() && asked.count > 0 && is_symmetric(asked, buffers);
}

// What a rank does not have is wherever the others have it.
bool Communicator::is_symmetric(const Invocation& asked, const Buffers& buffers) const {
  const auto lies_there = [&](const void* buffer, std::uint64_t bytes) {
    return (bytes == 0 && asked.count > 0) || heap_.find(buffer, bytes).segment != nullptr;
  };
  return asked.collective != Collective::barrier && lies_there(asked.input, buffers.input_bytes) &&
         lies_there(asked.output, buffers.output_bytes);
}

Status Communicator::run_by(const Schedule& schedule, std::uint32_t number, const Invocation& asked,
                            WalkerChoice walker) {
  if (is_over()) return failure();
  if (asked.root >= num_ranks_ || asked.op.value > OperatorHandle::kMost) return refuse(asked);
  const std::uint64_t key = BoundCall::key_of(asked);
  if (number < given_.size() && given_[number].bound.suits(asked, key))
    return walk(given_[number].bound, asked, walker);
  if (schedule.num_ranks != num_ranks_)
    return {Code::invalid_argument, fmt::format("the schedule is for {}, and the communicator has {}",
                                                counted(schedule.num_ranks, "rank"), num_ranks_)};
  const Result<const Prepared*> entry = prepared(asked);
  if (!entry.ok()) return entry.status();
  const Result<Buffers> buffers = find_buffers(asked, rank_, num_ranks_);
  if (!buffers.ok()) return buffers.status();
  const auto first = static_cast<std::uint32_t>(portfolio_.of(asked.collective).size());
  if (first + number > CallDescription::kMostAlgorithm)
    return {Code::invalid_argument,
            fmt::format("a communicator keeps {} schedules beside its algorithms, and {} is asked for",
                        CallDescription::kMostAlgorithm + 1 - first, number)};
  if (number >= given_.size()) given_.resize(number + 1);
  auto& [plan, bound] = given_[number];
  bound.asked = 0;
  bound.buffers = *buffers;
  if (plan == nullptr) {
    // What is in the catalogue is proven; this may come from anywhere.
    if (const auto fault = find_malformed(Programs(schedule, Fusion::none)))
      return {Code::invalid_argument,
              fmt::format("the schedule {} is malformed: {}", schedule.name, fault->to_string())};
    Result<Plan> made = make_plan(schedule, rank_, nullptr, hosts_);
    if (!made.ok()) return made.status();
    if (made->crosses_hosts)
      return {Code::unsupported, fmt::format("{} reaches the memory of ranks on another host", schedule.name)};
    plan = std::make_unique<const Plan>(std::move(*made));
  }
  const Reach reach = plan->opens ? Reach::symmetric : Reach::staged;
  TUTTI_TRY(make_call(*plan, first + number, reach, **entry, asked, bound));
  bound.counted = &counts_.row(asked.collective, &plan->schedule.name, reach);
  if (asked.op.value < OperatorHandle::kFirstCustom) bound.asked = key;
  bound.count = asked.count;
  return walk(bound, asked, walker);
}

// How much of a slot a round uses. Oversubscribed ranks change places twice a round or more: the fewer rounds the
// better, as long as all their slots are no more than half of the cache that they meet in. With a core each, input,
// output and slots of a long message compete for the caches: all slots together take half of a core's own
// (docs/design/executor.md). If one side of an operation stages what the other reads, both are at work only from the
// second round on.
std::uint64_t Communicator::longest_round(const Plan& plan, std::uint64_t depth, std::uint64_t bytes) const {
  const auto share_of = [&](std::uint64_t cache) { return cache / 2 / depth / kRoundUnit * kRoundUnit; };
  const std::uint64_t usual = profile_.rounds_usual;
  // Hosts may differ in their caches, and in how crowded they are.
  if (endpoint_ != nullptr) return region_->shape().staging_slot;
  if (waiter_->policy().crowded) {
    const std::uint64_t counted = std::min<std::uint64_t>(settings_.caches.last, profile_.rounds_last_level_most);
    const std::uint64_t widest = std::max<std::uint64_t>(usual, profile_.rounds_widest);
    return settings_.staging_slot.value_or(std::clamp(share_of(counted / num_ranks_), usual, widest));
  }
  if (!settings_.staging_slot && facts_of(plan.schedule.collective).has_root && bytes < 4 * usual)
    return std::max<std::uint64_t>(bytes / 4 / kRoundUnit * kRoundUnit, profile_.rounds_shortest_of_root);
  const std::uint64_t round = settings_.staging_slot.value_or(usual);
  if (bytes < profile_.rounds_long_from) return round;
  return std::min(round, std::max<std::uint64_t>(profile_.rounds_shortest, share_of(settings_.caches.core)));
}

std::uint32_t Communicator::staging_depth_of(const Plan& plan) const {
  const shm::RegionShape& shape = region_->shape();
  return std::clamp(2 * plan.exposes_per_round, shape.staging_depth, shape.num_slots());
}

Status Communicator::set_layout(Call& call, std::uint64_t count) const {
  const Plan& plan = *call.plan;
  const shm::RegionShape& shape = region_->shape();
  std::uint64_t window = ~std::uint64_t{0};
  if (plan.has_messages) window = std::min(window, shape.message_slot / plan.widest_message / call.element);
  if (plan.exposes_per_round > 0 && !call.by_name()) {
    if (plan.exposes_per_round > shape.num_slots())
      return {Code::unsupported,
              fmt::format("{} exposes {} a round and there {} {}; set TUTTI_STAGING_DEPTH to at least that",
                          plan.schedule.name, counted(plan.exposes_per_round, "time"), are(shape.num_slots()),
                          counted(shape.num_slots(), "staging slot"))};
    call.depth = staging_depth_of(plan);
    // However short rounds are, an element of each piece has room where the slot has.
    const bool is_tuned = call.tuning != nullptr && call.tuning->round && !settings_.staging_slot;
    const std::uint64_t round = is_tuned ? *call.tuning->round : longest_round(plan, call.depth, count * call.element);
    const std::uint64_t slot = std::min(shape.staging_slot, std::max(round, plan.widest_expose * call.element));
    window = std::min(window, slot / plan.widest_expose / call.element);
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
    // All blocks are of one size, those of scratch too.
    const PieceLayout layout(count, division.pieces, window);
    call.rounds = std::max(call.rounds, layout.num_rounds());
    call.block_elements[space] = count;
    widest = std::max(widest, (count + division.pieces - 1) / division.pieces);
  }
  // Packed pieces lie a window apart; where one round carries them whole, exactly as in memory.
  call.window = std::min(window, widest);
  if (plan.exposes_per_round > 0 && !call.by_name()) {
    if (plan.exposes_several && call.rounds == 1 && !facts_of(plan.schedule.collective).varies) {
      const std::uint64_t each = call.window * call.element;
      const std::uint64_t most =
          waiter_->policy().crowded ? profile_.lists_gather_most_crowded : profile_.lists_gather_most;
      if (each * plan.exposes_per_round <= std::min(shape.staging_slot, most)) call.gathered = each;
    }
    const bool is_one = call.rounds == 1 && call.posts_once();
    call.places = spread_of(is_one ? call.turns() : call.depth)
                      .places(call.bytes_in_slot(plan.widest_expose * call.window * call.element));
  }
  for (std::size_t space = 0; space < kNumSpaces; ++space)
    if (const Division& division = plan.schedule.spaces[space]; division.blocks != 0)
      call.layouts[space] = PieceLayout(count, division.pieces, call.window);
  return {};
}

Status Communicator::make_call(const Plan& plan, std::uint32_t number, Reach reach, const Prepared& entry,
                               const Invocation& asked, BoundCall& bound) {
  Call& call = bound.call;
  const CallTuning* const tuning = call.tuning;
  call = Call();
  call.tuning = tuning;
  call.plan = &plan;
  call.reach = reach;
  call.element = size_of(entry.small.operation.type);
  call.operation = &entry.small.operation;
  const std::uint64_t bytes = bound.buffers.output_bytes;
  // Outputs of all ranks pass through one cache: two may be as large as if each were alone. Pushed to every rank, one
  // counts for itself.
  const bool all_have_outputs = has_block(plan.schedule, (asked.root + 1) % num_ranks_, Space::output, 0);
  const std::uint64_t outputs = all_have_outputs ? std::max(num_ranks_, 2U) : 2;
  // What is written is fetched and put back, what is read only fetched: an input counts for half as much as an output.
  const std::uint64_t passing = bytes == 0 ? 0 : (bound.buffers.input_bytes + 2 * bytes) / 3;
  const std::uint64_t written = plan.opens ? bytes * num_ranks_ : passing * outputs / 2;
  const OutputUse use = plan.opens ? OutputUse::pushed : plan.posts_first ? OutputUse::kept : OutputUse::passed_on;
  const CallTuning::Stores stores = call.tuning == nullptr ? CallTuning::Stores::by_profile : call.tuning->stores;
  const bool streaming = settings_.stream_min ? bytes >= *settings_.stream_min
                         : stores != CallTuning::Stores::by_profile
                             ? stores == CallTuning::Stores::streamed
                             : written >= stream_min_of(profile_, settings_.caches, ranks_on_cores_, use);
  // A message's slot is read at once by its receiver. What the system has fetched to be folded is in the cache, of two
  // ranks where the result will be, and in place that is where a source has just been read. None of it must go past the
  // cache.
  const bool is_in_cache =
      plan.has_messages || (facts_of(asked.collective).folds && (reach == Reach::attached || bound.buffers.in_place));
  call.kernel = streaming && !is_in_cache ? entry.streaming : entry.small.kernel;
  if (plan.opens && entry.small.operation.op == Op::premultiplied_sum)
    return {Code::unsupported, fmt::format("{} cannot scale the inputs that it reads by name", plan.schedule.name)};
  call.described = CallDescription{.count = asked.count,
                                   .collective = asked.collective,
                                   .type = asked.type,
                                   .op = entry.small.operation.op,
                                   .algorithm = number,
                                   .subject = CallDescription::subject_of(asked, num_ranks_),
                                   .reach = call.reach}
                       .pack();
  call.is_brief = bound.buffers.message_bytes <= profile_.small_brief_most;
  call.move_most = profile_.lists_move_most;
  call.may_go_unheard = goes_unheard(call, asked.count);
  TUTTI_TRY(set_layout(call, asked.count));
  call.inline_end = !call.by_name() && call.posts_once() ? shm::kInlineBytes + 1 : 0;
  bound.is_lowered = settings_.walker != WalkerChoice::generic && lower(call, bound.lowered);
  TUTTI_ASSERT(bound.is_lowered || reach != Reach::attached, "only the walker of lists reaches attached memory");
  bound.is_quick =
      !traces_ && bound.is_lowered && call.varying == nullptr && plan.schedule.division(Space::scratch).blocks == 0;
  return {};
}

// Where the buffers of a call in symmetric memory are; whether they are there.
bool Communicator::find_symmetric(BoundCall& bound, const Invocation& asked) const {
  Call& call = bound.call;
  call.symmetric_input = heap_.find(asked.input, bound.buffers.input_bytes);
  call.symmetric_output = heap_.find(asked.output, bound.buffers.output_bytes);
  const auto lies_there = [&](const SymmetricBuffer& found, std::uint64_t bytes) {
    return (bytes == 0 && asked.count > 0) || found.segment != nullptr;
  };
  const bool is_found = lies_there(call.symmetric_input, bound.buffers.input_bytes) &&
                        lies_there(call.symmetric_output, bound.buffers.output_bytes);
  // What this rank has not, others have where its other buffer is.
  if (bound.buffers.input_bytes == 0) call.symmetric_input = call.symmetric_output;
  if (bound.buffers.output_bytes == 0) call.symmetric_output = call.symmetric_input;
  return is_found;
}

Status Communicator::find_places(BoundCall& bound, const Invocation& asked) const {
  Call& call = bound.call;
  call.input = static_cast<const std::byte*>(asked.input);
  call.output = static_cast<std::byte*>(asked.output);
  if (call.reach != Reach::symmetric || find_symmetric(bound, asked)) return {};
  return {Code::invalid_usage, fmt::format("{} needs input and output in symmetric memory", call.plan->schedule.name)};
}

bool Communicator::finds_places(BoundCall& bound, const Invocation& asked) const {
  if (bound.call.reach == Reach::symmetric) return bound.symmetric && asked.count > 0 && find_symmetric(bound, asked);
  return has_symmetric(asked, bound.buffers) == bound.symmetric;
}

Status Communicator::run_bound(BoundCall& bound, const Invocation& asked) {
  Status status = guarded(name_of(asked.collective), [&]() -> Status {
    bound.call.input = static_cast<const std::byte*>(asked.input);
    bound.call.output = static_cast<std::byte*>(asked.output);
    count(bound);
    const Caretaker::Relief relief = relieve();
    const End end = executor_->run(bound.call, &bound.lowered);
    return end == End::done ? Status() : fail(end);
  });
  leave();
  return status;
}

void Communicator::find_scratch(Call& call) {
  const Division& scratch = call.plan->schedule.division(Space::scratch);
  if (scratch.blocks == 0) return;
  const std::uint64_t bytes =
      scratch.blocks * call.block_elements[static_cast<std::size_t>(Space::scratch)] * call.element;
  if (scratch_.size() < bytes) scratch_.resize(bytes);
  call.scratch = scratch_.data();
}

Status Communicator::walk(BoundCall& bound, const Invocation& asked, WalkerChoice walker) {
  TUTTI_TRY(find_places(bound, asked));
  return walk_placed(bound, walker);
}

Status Communicator::walk_placed(BoundCall& bound, WalkerChoice walker) {
  // A call in several steps is traced at the first, with the caller's buffers.
  if (traces_ && !bound.is_inner && !facts_of(CallDescription::unpack(bound.call.described).collective).varies)
    trace_collective(bound.call.described, bound.why, bound.call.input, bound.call.output, "blocking");
  if (thread_work.pending != nullptr || has_begun_) [[unlikely]] {
    Operation& operation = operations_.take(*this, Operation::Kind::collective, false);
    operation.bound = bound;
    return finish(operation);
  }
  Call& call = bound.call;
  find_scratch(call);
  count(bound);
  const Caretaker::Relief relief = relieve();
  const bool by_list = bound.is_lowered && walker != WalkerChoice::generic;
  const End end = executor_->run(call, by_list ? &bound.lowered : nullptr);
  return end == End::done ? Status() : fail(end);
}

}  // namespace tutti
