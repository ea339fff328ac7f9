// SPDX-License-Identifier: Apache-2.0
#include "on_fabric/virtual_time.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <memory>
#include <new>
#include <numeric>
#include <span>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/counted.hpp"
#include "base/digest.hpp"
#include "data/type.hpp"
#include "runtime/bootstrap/split.hpp"
#include "runtime/plan/block_table.hpp"
#include "runtime/plan/plan.hpp"
#include "schedule/prove/definition.hpp"
#include "simulate/simulate.hpp"

namespace tutti::on_fabric {

namespace {

// Times of so many different calls are kept.
constexpr std::size_t kMostKnown = 256;

// How a rank calls. What has not both buffers says nothing of its place.
constexpr std::uint64_t kInPlace = 1;
constexpr std::uint64_t kApart = 2;
constexpr std::uint64_t kSymmetric = 4;
constexpr std::uint64_t kRefused = 8;  // its arguments are wrong

// Clocks are short, but with those of `_v` calls go two words about each rank. In the widest message of recursive
// doubling, half of all ranks share a slot; so much gives each of them 128 bytes at a time.
std::uint64_t slot_of_clocks(std::uint32_t num_ranks) {
  const VariableRow& slot = row_of(VariableId::staging_slot);
  return std::clamp(std::bit_ceil(64 * std::uint64_t{num_ranks}), static_cast<std::uint64_t>(slot.range.low),
                    static_cast<std::uint64_t>(slot.range.high));
}

// Leaves out the algorithms that the program forces, so that clocks travel whatever these are. Has one more slot than
// the program's, so that a sender can be as far ahead with clocks as with messages: a receiver may have taken a
// message, and not yet its clock, when it leaves the library.
Result<Variables> plain(const Variables& variables, std::uint32_t num_ranks) {
  Environment environment;
  for (const VariableId id : {VariableId::timeout, VariableId::late_warning})
    environment.set(std::string(row_of(id).name), variables.text(id));
  const VariableRow& depth = row_of(VariableId::staging_depth);
  const auto slots = std::min<std::int64_t>(variables.get<VariableId::staging_depth>() + 1, depth.range.high);
  environment.set(std::string(depth.name), std::to_string(slots));
  environment.set(std::string(row_of(VariableId::staging_slot).name), std::to_string(slot_of_clocks(num_ranks)));
  if (num_ranks > kMostDirectRanks)
    for (const Collective collective : {Collective::all_gather, Collective::all_reduce})
      environment.set(std::string(forcing_variable(collective)), "recursive_doubling");
  return Variables::load(environment, ConfPaths());
}

Schedule header_of(Collective collective, std::uint32_t num_ranks, std::uint32_t root) {
  Schedule header;
  header.collective = collective;
  header.num_ranks = num_ranks;
  header.root = root;
  header.spaces = spaces_of(collective, num_ranks);
  return header;
}

// Finds the size of each class. Each rank has sent so many words; from index `from` on, they are its block sizes. False
// where two ranks contradict each other.
bool take_blocks(std::span<const std::uint64_t> all, std::size_t words, std::size_t from, Call& call) {
  const auto num_ranks = static_cast<std::uint32_t>(all.size() / words);
  const Schedule header = header_of(call.collective, num_ranks, call.root);
  constexpr std::uint64_t kUnknown = ~std::uint64_t{0};
  call.counts.assign(num_size_classes(header), kUnknown);
  for (std::uint32_t rank = 0; rank < num_ranks; ++rank)
    for (const Space space : {Space::input, Space::output}) {
      if (!has_block(header, rank, space, 0)) continue;
      const std::span<const std::uint64_t> its =
          all.subspan(rank * words + from + (space == Space::input ? 0 : num_ranks));
      for (std::uint32_t block = 0; block < header.division(space).blocks; ++block) {
        std::uint64_t& size = call.counts[size_class(header, rank, space, block)];
        if (size != kUnknown && size != its[block]) return false;
        size = its[block];
      }
    }
  const std::uint64_t sum = std::accumulate(call.counts.begin(), call.counts.end(), std::uint64_t{0});
  call.message_bytes = sum * num_ranks / call.counts.size() * call.element_size;
  return true;
}

// The fabric of ranks that are not its first ones. Where all sit may then be no grid.
std::shared_ptr<const fabric::Fabric> with_places(std::shared_ptr<const fabric::Fabric> fabric,
                                                  const std::vector<std::uint32_t>& places) {
  std::vector<std::uint32_t> first(places.size());
  std::iota(first.begin(), first.end(), 0U);
  if (places == first) return fabric;
  fabric::Fabric changed = *fabric;
  changed.ranks.clear();
  for (const std::uint32_t place : places) changed.ranks.push_back(fabric->ranks[place]);
  changed.grid.clear();
  return std::make_shared<const fabric::Fabric>(std::move(changed));
}

}  // namespace

VirtualTime::VirtualTime(Communicator& communicator, Options options)
    : communicator_(communicator),
      named_(std::move(options.fabric)),
      fabric_(named_, &named_->fabric),
      clock_(options.clock == nullptr ? std::make_shared<VirtualClock>() : std::move(options.clock)),
      place_(options.place),
      log_(options.log),
      settings_(settings_on(*fabric_, named_->digest, options.variables)) {}

Status VirtualTime::break_both(const Status& why) {
  communicator_.region().break_with({why.code(), communicator_.rank(), fmt::format("virtual time: {}", why.message())});
  return communicator_.failure();
}

Result<std::unique_ptr<VirtualTime>> VirtualTime::make(Communicator& communicator, Options options) {
  const Variables& variables = options.variables;
  try {
    std::unique_ptr<VirtualTime> made(new VirtualTime(communicator, std::move(options)));
    if (const Status status = made->meet(variables); !status.ok()) {
      communicator.region().break_with({status.code(), communicator.rank(), std::string(status.message())});
      return status;
    }
    communicator.set_companion(made->clocks_.get());
    return made;
  } catch (const std::bad_alloc&) {
    return communicator.break_for_memory("virtual time");
  }
}

Status VirtualTime::meet(const Variables& variables) {
  TUTTI_TRY_ASSIGN(const Variables own, plain(variables, communicator_.num_ranks()));
  TUTTI_TRY_ASSIGN(const SplitGroup group, split(communicator_, 0, static_cast<int>(communicator_.rank())));
  TUTTI_TRY_ASSIGN(clocks_, Communicator::join(group.id, group.num_ranks, group.rank, nullptr, own, log_,
                                               [&] { return why_in_vain(communicator_, group); }));
  times_ = KnownTimes::of(group.id);
  TUTTI_TRY(compare());
  TUTTI_TRY(settings_.status());
  if (communicator_.rank() != 0) return {};
  const TableChoice& table = settings_->table;
  for (const std::string& warning : table.warnings) log_.warn_once(LogSubsystem::init, warning, "{}", warning);
  log_.info(LogSubsystem::init, "calls take virtual time, as on {}; decision table {}: {}", fabric_->name,
            table.table == nullptr ? "none" : table.table->title(), table.why);
  return {};
}

// Whether all ranks have the same fabric and table, and a place on the fabric, which they then take.
Status VirtualTime::compare() {
  const std::string table = settings_.ok() ? settings_->table.agreement() : "(unreadable)";
  const std::array<std::uint64_t, 3> mine = {place_, named_->digest, digest(table)};
  std::vector<std::uint64_t> all(mine.size() * clocks_->num_ranks());
  TUTTI_TRY(clocks_->run({.collective = Collective::all_gather,
                          .input = mine.data(),
                          .output = all.data(),
                          .count = mine.size(),
                          .type = Type::u64}));
  const std::string_view name = row_of(VariableId::fabric).name;
  std::vector<std::uint32_t> places;
  for (std::size_t rank = 0; rank < clocks_->num_ranks(); ++rank) {
    const std::span<const std::uint64_t> its = std::span(all).subspan(mine.size() * rank, mine.size());
    places.push_back(static_cast<std::uint32_t>(its[0]));
    if (its[1] != all[1])
      return wrong_argument(
          fmt::format("{} is {}, but the fabric of rank {} differs from that of rank 0", name, named_->variable, rank));
    // A rank that could not read its table reports that instead.
    if (its[2] != all[2] && settings_.ok())
      return wrong_argument(fmt::format("{} is {} here, but the table of rank {} differs from that of rank 0",
                                        row_of(VariableId::table).name, table, rank));
  }
  if (const std::uint32_t most = *std::max_element(places.begin(), places.end()); most >= fabric_->num_ranks())
    return wrong_argument(fmt::format("{} is {}, which has {}; there is no rank {}", name, named_->variable,
                                      counted(fabric_->num_ranks(), "rank"), most));
  fabric_ = with_places(std::move(fabric_), places);
  return {};
}

VirtualTime::Asked VirtualTime::asked_of_varying(const Invocation& asked) const {
  const std::uint32_t num_ranks = communicator_.num_ranks();
  Asked found{.call = {.collective = asked.collective,
                       .element_size = size_of(asked.type),
                       .root = asked.root,
                       .types = class_of(asked.type)},
              .blocks = std::vector<std::uint64_t>(2 * std::size_t{num_ranks}, 0)};
  const Schedule header = header_of(asked.collective, num_ranks, asked.root);
  BlockTable table;
  if (!table.place(header, communicator_.rank(), asked).ok() ||
      !table.find_buffers(header, communicator_.rank(), asked).ok()) {
    found.how |= kRefused;
    return found;
  }
  for (const Space space : {Space::input, Space::output})
    if (has_block(header, communicator_.rank(), space, 0))
      for (std::uint32_t block = 0; block < header.division(space).blocks; ++block)
        found.blocks[(space == Space::input ? 0 : num_ranks) + block] = table.at(space, block).count;
  // A rank without elements sets neither bit of place.
  if (table.buffers().in_place) found.how |= kInPlace;
  return found;
}

Result<VirtualTime::Asked> VirtualTime::asked_of(const Invocation& asked) const {
  if (asked.varying != nullptr) return asked_of_varying(asked);
  TUTTI_TRY_ASSIGN(const Buffers buffers, find_buffers(asked, communicator_.rank(), communicator_.num_ranks()));
  Asked found{.call = {.collective = asked.collective,
                       .element_size = size_of(asked.type),
                       .count = asked.collective == Collective::barrier ? 0 : asked.count,
                       .message_bytes = buffers.message_bytes,
                       .root = asked.root,
                       .types = class_of(asked.type)}};
  if (buffers.in_place)
    found.how |= kInPlace;
  else if (buffers.input_bytes > 0 && buffers.output_bytes > 0)
    found.how |= kApart;
  if (communicator_.is_in_symmetric_memory(asked, buffers)) found.how |= kSymmetric;
  return found;
}

Status VirtualTime::start(const Asked& asked, Made* made) {
  auto added = std::make_unique<Started>();
  added->made = made;
  added->call = asked.call;
  added->mine = {std::bit_cast<std::uint64_t>(clock_->now()), asked.how};
  added->mine.insert(added->mine.end(), asked.blocks.begin(), asked.blocks.end());
  added->all.resize(added->mine.size() * clocks_->num_ranks());
  const Result<Operation*> telling = clocks_->prepare({.collective = Collective::all_gather,
                                                       .input = added->mine.data(),
                                                       .output = added->all.data(),
                                                       .count = added->mine.size(),
                                                       .type = Type::u64},
                                                      false);
  if (!telling.ok()) return break_both(telling.status());
  added->telling = *telling;
  Started& call = *started_.emplace_back(std::move(added));
  if (const Status status = clocks_->start(*call.telling); !status.ok()) {
    clocks_->release(*call.telling);
    started_.pop_back();
    return break_both(status);
  }
  call.number = ++last_number_;
  if (made != nullptr) made->started = &call;
  return {};
}

Status VirtualTime::begin_in_group(const Invocation& asked) {
  return within_memory([&]() -> Status {
    TUTTI_TRY_ASSIGN(const Asked found, asked_of(asked));
    TUTTI_TRY(start(found, nullptr));
    last_grouped_ = last_number_;
    return {};
  });
}

Status VirtualTime::run(const Invocation& asked) {
  return within_memory([&]() -> Status {
    TUTTI_TRY_ASSIGN(const Asked found, asked_of(asked));
    TUTTI_TRY(start(found, nullptr));
    return end_up_to(last_number_);
  });
}

Status VirtualTime::remember(const Invocation& asked, Operation& operation) {
  return within_memory([&]() -> Status {
    TUTTI_TRY_ASSIGN(Asked found, asked_of(asked));
    return remember_as(std::move(found), operation);
  });
}

// The place may have held an earlier operation, which has ended unless the communicator is broken.
Status VirtualTime::remember_as(std::variant<Transfer, Asked> asked, Operation& operation) {
  if (is_broken()) return communicator_.failure();
  return within_memory([&]() -> Status {
    Made& made = made_[&operation];
    made = {.owner = this, .asked = std::move(asked)};
    operation.timed = &made;
    return {};
  });
}

Status VirtualTime::begin(const Operation& operation) {
  return within_memory([&]() -> Status {
    Made& made = made_of(operation);
    made.ended_in = Status();
    if (const Transfer* const transfer = std::get_if<Transfer>(&made.asked))
      return start(*transfer, made.moving.emplace());
    return start(std::get<Asked>(made.asked), &made);
  });
}

// Progresses what is pending.
bool VirtualTime::is_told(Operation& telling) {
  // One that was found to be done before is not active any more.
  if (!telling.is_active || is_broken()) return true;
  const Result<bool> is_done = clocks_->test(telling);
  if (is_done.ok()) return *is_done;
  static_cast<void>(break_both(is_done.status()));
  return true;
}

bool VirtualTime::is_ready(const Operation& operation) {
  const Made& made = made_of(operation);
  if (made.moving) return made.moving->telling == nullptr || is_told(*made.moving->telling);
  if (made.started == nullptr) return true;
  for (const std::unique_ptr<Started>& each : started_) {
    if (!is_told(*each->telling)) return false;
    if (each.get() == made.started) break;
  }
  return true;
}

bool VirtualTime::looks_ready(const Operation& operation) const {
  if (is_broken() || clocks_->async_error() != Code::ok) return true;
  const Made& made = made_of(operation);
  const Operation* const telling = made.moving ? made.moving->telling : made.started ? made.started->telling : nullptr;
  return telling == nullptr || telling->is_done();
}

Status VirtualTime::end(const Operation& operation) {
  Made& made = made_of(operation);
  if (made.moving) return within_memory([&] { return end(*made.moving); });
  if (made.started != nullptr) return within_memory([&] { return end_up_to(made.started->number); });
  return std::exchange(made.ended_in, Status());
}

Status VirtualTime::end_group() {
  if (is_broken()) return communicator_.failure();
  return within_memory([&]() -> Status {
    Status last = end_up_to(last_grouped_);
    Status first = std::exchange(group_ended_in_, Status());
    if (first.ok()) first = std::move(last);
    for (Moving& each : grouped_)
      if (Status status = end(each); first.ok()) first = std::move(status);
    if (!is_broken()) grouped_.clear();
    return first;
  });
}

void VirtualTime::settle() {
  const auto is_settled = [&](Operation* telling) { return telling == nullptr || await(*telling).ok(); };
  for (const std::unique_ptr<Started>& each : started_)
    if (!is_settled(each->telling)) return;
  for (Moving& each : grouped_)
    if (!is_settled(each.telling)) return;
  for (auto& [operation, made] : made_)
    if (made.moving && !is_settled(made.moving->telling)) return;
}

// Also ends when the program's communicator breaks: then somebody may never tell.
Status VirtualTime::await(Operation& telling) {
  if (is_broken()) return communicator_.failure();
  if (!telling.is_active) return {};
  const Status waited = clocks_->wait_for_any(telling, [&] { return telling.is_done() || is_broken(); });
  if (is_broken()) return communicator_.failure();
  if (!waited.ok()) return break_both(waited);
  const Status status = clocks_->wait(telling);
  return status.ok() ? status : break_both(status);
}

Status VirtualTime::end_up_to(std::uint64_t number) {
  while (!started_.empty() && started_.front()->number <= number) {
    TUTTI_TRY(await(*started_.front()->telling));
    const std::unique_ptr<Started> first = std::move(started_.front());
    started_.pop_front();
    clocks_->release(*first->telling);
    Made* const made = first->made;
    // If the real call failed, nobody waits for it, and its place may hold another operation.
    const bool is_awaited = made != nullptr && made->started == first.get();
    if (is_awaited) made->started = nullptr;
    Status status = take_time_of(*first);
    if (first->number == number) return status;
    // For whoever waits for it.
    if (is_awaited)
      made->ended_in = std::move(status);
    else if (made == nullptr && group_ended_in_.ok())
      group_ended_in_ = std::move(status);
  }
  return {};
}

// The same on all ranks, but for whose clock it is.
Status VirtualTime::take_time_of(const Started& first) {
  std::uint64_t how = 0;
  double begin = ended_;
  const std::size_t words = first.mine.size();
  for (std::size_t word = 0; word < first.all.size(); word += words) {
    begin = std::max(begin, std::bit_cast<double>(first.all[word]));
    how |= first.all[word + 1];
  }
  Call call = first.call;
  // A call takes no time if it fails on every rank: one refused its arguments, or the counts of two differ.
  if (words > kWords && ((how & kRefused) != 0 || !take_blocks(first.all, words, kWords, call))) return {};
  call.in_place = (how & kInPlace) != 0 && (how & kApart) == 0;
  call.symmetric = (how & kSymmetric) != 0;
  const Timed& taken = timed(call);
  TUTTI_TRY(taken.status);
  ended_ = begin + taken.time;
  last_ = taken.time;
  clock_->reach(begin + taken.rank_times[communicator_.rank()]);
  return {};
}

const Timed& VirtualTime::timed(const Call& call) {
  if (const auto found = known_.find(call); found != known_.end()) return *found->second;
  if (known_.size() >= kMostKnown) known_.clear();
  const Timed& timed = *known_.emplace(call, times_->find_or_make(call, [&] { return simulated(call); })).first->second;
  if (communicator_.rank() == 0) {
    if (!timed.warning.empty()) log_.warn_once(LogSubsystem::coll, timed.warning, "{}", timed.warning);
    if (!timed.log_line.empty()) log_.info(LogSubsystem::coll, "{}", timed.log_line);
  }
  return timed;
}

// As the library does, which goes by size where what is forced is not for so many ranks.
Result<ChosenWay> VirtualTime::choose(const Call& call, std::string& warning) {
  const std::uint32_t num_ranks = communicator_.num_ranks();
  Result<ChosenWay> way = chooser_.choose(call, *fabric_, num_ranks, *settings_, nullptr);
  const ForcedAlgorithm& forced = settings_->forced_of(call.collective);
  if (way.ok() || way.status().code() != Code::unsupported || forced.name.empty() || forced.file) return way;
  warning = fmt::format("{}={} cannot be followed in virtual time ({}); it goes by size",
                        forcing_variable(call.collective), forced.name, way.status().message());
  Settings by_size = *settings_;
  by_size.forced_of(call.collective) = {};
  return chooser_.choose(call, *fabric_, num_ranks, by_size, nullptr);
}

Timed VirtualTime::simulated(const Call& call) {
  Timed made;
  const auto wrong = [&](const Status& status) {
    made.status = {status.code(), fmt::format("{} of {} on {}: {}", name_of(call.collective),
                                              counted(call.message_bytes, "byte"), fabric_->name, status.message())};
    return made;
  };
  const Result<ChosenWay> way = choose(call, made.warning);
  if (!way.ok()) return wrong(way.status());
  const Schedule& schedule = way->schedule;
  if (const std::string against = objection_to(*way, call); !against.empty())
    return wrong(not_here(fmt::format("{} {}", schedule.name, against)));
  Result<simulate::Answer> answer = simulate::simulate(schedule, *fabric_,
                                                       {.count = call.count,
                                                        .counts = call.counts,
                                                        .element_size = call.element_size,
                                                        .staged = way->staged,
                                                        .in_place = call.in_place});
  if (!answer.ok()) return wrong(answer.status());
  made.time = answer->time;
  made.rank_times = std::move(answer->rank_times);
  made.log_line =
      fmt::format("{} of {} takes {:.3f} us on {}, by {} ({})", name_of(call.collective),
                  counted(call.message_bytes, "byte"), answer->time / 1e3, fabric_->name, schedule.name, way->why);
  return made;
}

}  // namespace tutti::on_fabric
