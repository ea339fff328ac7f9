// SPDX-License-Identifier: Apache-2.0
#include "runtime/communicator/communicator.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

#include <fmt/format.h>
#include <unistd.h>

#include "algorithms/registry.hpp"
#include "base/counted.hpp"
#include "runtime/bootstrap/addresses.hpp"
#include "runtime/bootstrap/bootstrap.hpp"
#include "runtime/bootstrap/service_thread.hpp"
#include "runtime/communicator/over_ofi.hpp"
#include "runtime/execution/busy_core.hpp"
#include "runtime/execution/shared_cores.hpp"
#include "runtime/failure/lateness.hpp"
#include "runtime/selection/selector.hpp"
#include "transport/shm/attach.hpp"
#include "transport/shm/locality.hpp"

namespace tutti {

namespace {

constexpr std::uint64_t kProbe = 0x7475747469212121;

std::uint32_t small_number() {
  return number_of(*find_algorithm(Collective::all_reduce, Communicator::kSmallAlgorithm));
}

}  // namespace

Communicator::Communicator(std::shared_ptr<const shm::Region> region, std::uint32_t rank, const Settings& settings,
                           Log& log, Hosts hosts, std::unique_ptr<transport::Endpoint> endpoint,
                           std::optional<Address> address)
    : region_(std::move(region)),
      hosts_(std::move(hosts)),
      endpoint_(std::move(endpoint)),
      address_(address),
      rank_(rank),
      num_ranks_(region_->shape().num_ranks),
      settings_(settings),
      log_(log),
      process_(getpid()),
      heap_(*region_, rank),
      portfolio_(rank, region_->shape(), hosts_),
      selector_(portfolio_, num_ranks_),
      bound_(std::size_t{1} << BoundCall::kPlaceBits),
      probe_(kProbe ^ rank),
      traces_(log.enabled(LogLevel::trace, LogSubsystem::coll)),
      fork_notice_([this] { become_copy(); }) {
  for (int op = 0; op < kNumOps; ++op)
    for (int type = 0; type < kNumTypes; ++type) {
      Prepared& entry = prepared_[static_cast<std::size_t>(op)][static_cast<std::size_t>(type)];
      Operator& operation = entry.small.operation;
      operation = {.op = static_cast<Op>(op), .type = static_cast<Type>(type), .divisor = num_ranks_};
      // These two come with something of the caller's: create_operator() makes them.
      if (operation.op == Op::user || operation.op == Op::premultiplied_sum) continue;
      entry.small.kernel = reduce_kernel(operation.type, operation.op, false);
      entry.small.pair = pair_kernel(operation.type, operation.op);
      entry.small.element = size_of(operation.type);
      entry.small.description =
          CallDescription{.type = operation.type, .op = operation.op, .algorithm = small_number()}.pack();
      entry.streaming = reduce_kernel(operation.type, operation.op, true);
    }
}

void Communicator::become_copy() noexcept {
  is_copy_ = true;
  is_torn_ = !enter();
  leave();  // whoever was in is not here
  small_end_ = settled_small_end_ = 0;
  place_.forsake();
  if (endpoint_ != nullptr) endpoint_->forsake();
  if (watch_ != nullptr) watch_->forsake();
}

Result<std::unique_ptr<Communicator>> Communicator::join(const UniqueId& id, int num_ranks, int rank, Attempt* attempt,
                                                         const Variables& variables, Log& log,
                                                         std::function<Status()> in_vain,
                                                         std::optional<std::uint32_t> turn) {
  Settings settings = Settings::from(variables);
  if (rank == 0)
    for (const std::string& warning : settings.table.warnings)
      log.warn_once(LogSubsystem::init, warning, "{}", warning);
  std::unique_ptr<Communicator> communicator;
  std::unique_ptr<transport::ofi::Door> door;
  const auto prepare = [&](Membership& membership) -> Status {
    try {
      TUTTI_TRY_ASSIGN(communicator, of_membership(membership, id, settings, log, std::move(door)));
      return communicator->watch_over(std::move(membership.links));
    } catch (const std::bad_alloc&) {
      return Status::from_errno("there is no memory for a communicator", ENOMEM);
    }
  };
  JoinRequest request{
      .id = id,
      .rank = rank,
      .num_ranks = num_ranks,
      .attempt = attempt,
      .configuration = settings.agreement(variables),
      .host_id = variables.text(VariableId::host_id),
      .find_addresses = [&] { return addresses_of_interfaces(variables); },
      .turn = turn,
      .region_bytes =
          [&settings](const std::vector<std::uint32_t>& host_of, int who) {
            const Hosts hosts{host_of};
            const auto near = hosts.ranks_near(static_cast<std::uint32_t>(who)).size();
            return Bytes(shm::region_bytes(
                settings.region_for(static_cast<std::uint32_t>(host_of.size()), static_cast<std::uint32_t>(near))));
          },
      .prepare = prepare,
  };
  if (settings.transport.is_ofi)
    request.open_transport = door_opener(settings, num_ranks, door);
  else
    request.num_listeners_each = static_cast<int>(settings.transport.connections);
  const JoinOptions options{
      .late_warning = variables.get<VariableId::late_warning>(),
      .timeout = variables.get<VariableId::timeout>(),
      .warn = [&log](std::string_view text) { log.warn(LogSubsystem::init, "{}", text); },
      .meanwhile = exhaust_thread,
      .in_vain = std::move(in_vain),
  };
  const Result<Membership> membership = tutti::join(request, options);
  // The others know by now that this rank has no file; it itself knows why.
  if (!settings.profile.unread.ok()) return settings.profile.unread;
  if (!settings.table.unread.ok()) return settings.table.unread;
  for (const ForcedAlgorithm& forced : settings.forced)
    if (forced.file && !forced.file->unread.ok()) return forced.file->unread;
  if (!membership.ok()) return membership.status();
  const Status status = communicator->guarded("the making of the communicator", [&communicator]() -> Status {
    // All ranks have the same names and texts, so all get the same result here.
    TUTTI_TRY(communicator->take_forced());
    return communicator->arrive();
  });
  if (!status.ok()) return status;
  log.info(
      LogSubsystem::init,
      "communicator of {}{}, {}, machine profile {} ({}), staging {} x at most {} B, spread over {} B",
      counted(num_ranks, "rank"),
      communicator->hosts_.are_several() ? fmt::format(" on {}", counted(communicator->hosts_.count(), "host")) : "",
      counted(communicator->ranks_on_cores_.num_cores, "core"), communicator->profile_.title(), settings.profile.why,
      settings.region.staging_depth, settings.region.staging_slot, communicator->spread_);
  log.info(LogSubsystem::init, "decision table {}: {}",
           settings.table.table == nullptr ? "none" : settings.table.table->title(), settings.table.why);
  return communicator;
}

Status Communicator::watch_over(Links links) {
  // The watch's thread ends before the region goes: see the order of the members.
  const shm::Region* shared = region_.get();
  const auto mark = [shared](Code code) {
    return [shared, code](int which, auto&&...) { shared->break_with({code, static_cast<std::uint32_t>(which)}); };
  };
  const std::uint32_t self = rank_;
  Result<std::unique_ptr<FailureWatch>> watch = FailureWatch::start(
      std::move(links),
      {.on_lost =
           [shared](int which, std::string_view why) {
             const auto who = static_cast<std::uint32_t>(which);
             // It may have left, and ended before it could say so here.
             if (has_left(*shared, who)) return shared->wake_all();
             // Of a rank on this host it is known how it ended.
             shared->break_with(
                 {Code::rank_lost, who,
                  shared->is_here(who) ? std::string() : fmt::format("rank {} was lost: {}", which, why)});
           },
       .on_left =
           [shared](int which, std::uint64_t operations) {
             const auto who = static_cast<std::uint32_t>(which);
             // What is here of a rank of another host is what it has said.
             if (!shared->is_here(who)) shared->note_left(who, operations);
             shared->wake_all();
           },
       .on_abort = mark(Code::aborted),
       .on_broken =
           [shared](int which, Code code, std::string_view words) {
             shared->break_with({code, static_cast<std::uint32_t>(which), std::string(words)});
           }},
      {.give = [shared, self] { shared->life(self).hold(); },
       .take_back = [shared, self] { shared->life(self).let_go(); },
       .find_lost = [shared, self] { return find_lost(*shared, self); }});
  if (!watch.ok()) return watch.status();
  watch_ = std::move(*watch);
  return {};
}

std::unique_ptr<Communicator> Communicator::over(std::shared_ptr<const shm::Region> region, int rank,
                                                 const Settings& settings, Log& log, Hosts hosts,
                                                 std::unique_ptr<transport::Endpoint> endpoint) {
  std::unique_ptr<Communicator> communicator(new Communicator(std::move(region), static_cast<std::uint32_t>(rank),
                                                              settings, log, std::move(hosts), std::move(endpoint)));
  const Status taken = communicator->take_forced();
  TUTTI_ASSERT(taken.ok(), "who forces an algorithm on ranks of one process names a right one");
  const Status arrived = communicator->arrive();
  TUTTI_ASSERT(arrived.ok(), "ranks of one process cannot be lost");
  return communicator;
}

Status Communicator::take_forced() {
  selector_.gather_both_ways_up_to(settings_.ring_bidir_ag_max_size);
  for (int each = 0; each < kNumCollectives; ++each) {
    const auto collective = static_cast<Collective>(each);
    ForcedAlgorithm& forced = settings_.forced_of(collective);
    if (forced.name.empty()) continue;
    Result<Way*> way = nullptr;
    // Its text may be large, and is not needed again.
    const std::optional<AlgorithmFile> file = std::exchange(forced.file, std::nullopt);
    if (file) {
      TUTTI_TRY(file->unread);
      Result<OwnAlgorithm> own = own_algorithm(*file, collective, region_->shape());
      if (!own.ok()) return own.status();
      way = portfolio_.add(forced.name, std::move(own->schedule), own->demands);
    } else {
      way = portfolio_.find(collective, forced.name);
    }
    if (way.status().code() == Code::unsupported && !file) {
      log_.warn(LogSubsystem::coll, "{}={} cannot be followed ({})", forcing_variable(collective), forced.name,
                way.status().message());
      continue;
    }
    if (!way.ok()) return way.status().with_context(std::string(forcing_variable(collective)));
    selector_.force(collective, **way);
  }
  return {};
}

// Tells the others which cores this rank runs on, waits for theirs, and gets ready.
Status Communicator::arrive() {
  tell_own_cores(*region_, rank_);
  if (shm::has_several_nodes())
    if (const Status placed = region_->bring_near(rank_, settings_.messages_lie_near_sender); !placed.ok())
      log_.info(LogSubsystem::shm, "TUTTI_SHM_LOCALITY cannot be followed: {}", placed.to_string());
  const auto persist_here = [this](std::chrono::nanoseconds waited) { return persist(waited); };
  // Before all have arrived nobody knows how crowded it is; yielding suits either case.
  shm::Waiter first(
      *region_, rank_,
      {.eager = 0, .spin = {}, .timeout = settings_.timeout, .longest_sleep = std::chrono::milliseconds(5)},
      persist_here);
  // After the waiter has registered with membarrier.
  if (is_first_here()) {
    region_->first_cache().store(settings_.caches.first, std::memory_order_relaxed);
    region_->core_cache().store(settings_.caches.core, std::memory_order_relaxed);
    region_->last_level_cache().store(settings_.caches.last, std::memory_order_relaxed);
  }
  region_->call(rank_).has_membarrier.store(first.has_membarrier() ? 1 : 0, std::memory_order_relaxed);
  region_->call(rank_).process.store(process_, std::memory_order_relaxed);
  region_->call(rank_).probe.store(reinterpret_cast<std::uintptr_t>(&probe_), std::memory_order_relaxed);
  region_->call(rank_).presence.store(shm::Presence::here, std::memory_order_release);
  first.wake_others();
  const shm::WaitEnd end = first.until([this] {
    for (std::uint32_t peer = 0; peer < num_ranks_; ++peer)
      if (region_->is_here(peer) && region_->call(peer).presence.load(std::memory_order_acquire) == shm::Presence::none)
        return false;
    return true;
  });
  if (end != shm::WaitEnd::ready)
    return fail(end == shm::WaitEnd::timed_out  ? End::timed_out
                : end == shm::WaitEnd::given_up ? End::mismatched
                                                : End::broken);
  settings_.caches = {.first = region_->first_cache().load(std::memory_order_relaxed),
                      .core = region_->core_cache().load(std::memory_order_relaxed),
                      .last = region_->last_level_cache().load(std::memory_order_relaxed)};
  profile_ = settings_.profile.profile->for_caches(settings_.caches);
  selector_.decide_by(profile_.rules, ranks_to_fold(*region_));
  selector_.obey(settings_.table.table.get(), shares_cores(*region_));
  ranks_on_cores_ = {.num_cores = cores_of(*region_, num_ranks_),
                     .num_ranks = region_->shape().num_local(),
                     .crowded = shares_cores(*region_)};
  waiter_.emplace(*region_, rank_, wait_policy(), persist_here);
  const std::uint32_t num_here = ranks_on_cores_.num_ranks;
  spread_ = settings_.staging_spread.value_or(spread_over(num_here));
  const shm::SpreadOver of_messages{settings_.staging_spread.value_or(spread_over(num_here * (num_here - 1))),
                                    profile_.spread_payload_least};
  executor_.emplace(*region_, rank_, *waiter_, profile_, settings_.stores, Executor::Spreads{spread_, of_messages},
                    endpoint_.get());
  pairs_.emplace(*region_, rank_, profile_, settings_.stores, of_messages, endpoint_.get());
  if (endpoint_ != nullptr) {
    TUTTI_TRY(drive_endpoint());
    return agree_between_hosts();
  }
  TUTTI_TRY(open_small_path());
  TUTTI_TRY(find_attach());
  watch_core();
  if (can_attach_) pairs_->send_by_address_from(settings_.attach_min.value_or(profile_.transfers_by_address_from));
  return {};
}

// Spinning keeps an oversubscribed core from the rank that is waited for.
shm::WaitPolicy Communicator::wait_policy() const {
  shm::WaitPolicy policy{.crowded = ranks_on_cores_.crowded,
                         .eager = ranks_on_cores_.crowded ? profile_.wait_looks_crowded : profile_.wait_looks,
                         .spin = std::chrono::nanoseconds(ranks_on_cores_.crowded ? 0 : profile_.wait_spin_ns),
                         .yield = std::chrono::nanoseconds(profile_.wait_yield_ns),
                         .turn = std::chrono::nanoseconds(profile_.wait_turn_ns),
                         .timeout = settings_.timeout};
  bool all_have_membarrier = true;
  for (std::uint32_t peer = 0; peer < num_ranks_; ++peer)
    all_have_membarrier =
        all_have_membarrier &&
        (!region_->is_here(peer) || region_->call(peer).has_membarrier.load(std::memory_order_relaxed) != 0);
  if (all_have_membarrier) policy.longest_sleep = shm::kLongestSleep;
  if (settings_.spin) policy.spin = *settings_.spin;
  if (settings_.yield) policy.yield = *settings_.yield;
  // Who waits is to look several times before anyone takes it for stopped (lateness.hpp).
  for (const std::chrono::nanoseconds limit : {settings_.timeout, settings_.late_warning})
    if (limit.count() > 0) policy.longest_sleep = std::min(policy.longest_sleep, limit / 8);
  return policy;
}

std::uint64_t Communicator::spread_over(std::uint32_t num_groups) const {
  return tutti::spread_of(profile_, settings_.caches, ranks_on_cores_, num_groups);
}

// Ranks that share cores yield to each other, and so to any foreign process there.
void Communicator::watch_core() {
  if (!waiter_->policy().crowded || !settings_.leave_busy_cores || !knows_processes_) return;
  std::optional<shm::CoreWatch::Senses> senses = senses_of_core(*region_, rank_, [this] {
    log_.info(LogSubsystem::shm,
              "rank {} shares its core with a busy foreign process; it may now run on all cores of the ranks "
              "(TUTTI_LEAVE_BUSY_CORES)",
              rank_);
  });
  if (senses) waiter_->watch_core(std::move(*senses));
}

shm::Spread Communicator::spread_of(std::uint64_t slots) const {
  return {{spread_, profile_.spread_payload_least}, slots, region_->shape().staging_room()};
}

Status Communicator::find_attach() {
  if (num_ranks_ == 1) return {};
  bool can_read = true;
  bool can_write = true;
  for (std::uint32_t peer = 0; peer < num_ranks_ && can_read; ++peer) {
    const shm::CallLine& line = region_->call(peer);
    std::uint64_t seen = 0;
    const pid_t process = line.process.load(std::memory_order_relaxed);
    const std::uint64_t address = line.probe.load(std::memory_order_relaxed);
    can_read = shm::read_from(process, address, &seen, sizeof seen) == shm::AttachEnd::done && seen == (kProbe ^ peer);
    can_write = can_write && can_read && shm::write_to(process, address, &seen, sizeof seen) == shm::AttachEnd::done;
  }
  can_attach_ = can_read;
  knows_processes_ = can_read;
  const std::uint64_t mine[2] = {can_read ? std::uint64_t{1} : 0, can_write ? std::uint64_t{1} : 0};
  std::uint64_t least[2] = {0, 0};
  TUTTI_TRY(find_least(OwnCall::making, mine, least));
  can_attach_ = least[0] == 1;
  can_store_attached_ = least[1] == 1;
  return {};
}

// Where nothing is forced that it could not be.
Status Communicator::open_small_path() {
  if (settings_.walker == WalkerChoice::generic || num_ranks_ == 1) return {};
  const Result<Way*> way = portfolio_.find(Collective::all_reduce, kSmallAlgorithm);
  if (!way.ok()) return way.status();
  const Way* const forced = selector_.forced(Collective::all_reduce);
  if (forced != nullptr ? forced != *way : selector_.always_gathers_both_ways()) return {};
  const Result<const Plan*> plan = portfolio_.plan(**way, 0);
  if (!plan.ok()) return plan.status();
  executor_->set_small_plan(**plan, spread_of(slot_turns(region_->shape().staging_depth)));
  // The small path has one round, and peers may walk the same call otherwise: no more than a round of theirs carries.
  const std::uint64_t depth = staging_depth_of(**plan);
  const std::uint64_t round = std::min(
      {region_->shape().staging_slot, longest_round(**plan, depth, 0), longest_round(**plan, depth, kAnySize)});
  const auto below = [&](bool symmetric, TypeClass types) {
    const std::uint64_t by_rules =
        forced != nullptr ? kAnySize : selector_.always_below(kSmallAlgorithm, symmetric, types);
    return std::min({round + 1, std::uint64_t{profile_.small_below}, by_rules});
  };
  const std::uint64_t plain = below(false, TypeClass::plain);
  const std::uint64_t narrow = below(false, TypeClass::narrow);
  settled_small_end_ = std::max(plain, narrow);
  symmetric_small_end_ = std::min(below(true, TypeClass::plain), below(true, TypeClass::narrow));
  for (auto& of_op : prepared_)
    for (Prepared& each : of_op)
      each.small.end = class_of(each.small.operation.type) == TypeClass::narrow ? narrow : plain;
  rest_small_path();
  log_small_path();
  return {};
}

void Communicator::give_up_split(std::uint64_t number) const {
  region_->call(rank_).failed_split.store(number, std::memory_order_release);
}

bool Communicator::has_given_up_split(std::uint32_t rank, std::uint64_t number) const {
  return region_->is_here(rank) && region_->call(rank).failed_split.load(std::memory_order_acquire) == number;
}

Communicator::~Communicator() {
  place_.leave();
  if (is_copy_) {  // the rank itself has not left, and its connections go on
    if (caretaker_ != nullptr) tutti::abandon(std::move(caretaker_));
    if (endpoint_ != nullptr) tutti::abandon(std::move(endpoint_));
    return;
  }
  region_->call(rank_).presence.store(shm::Presence::left, std::memory_order_release);
  region_->wake_all();
  if (endpoint_ != nullptr) await_delivery();
  // It tells the watch what it finds.
  caretaker_.reset();
  pass_on_breakage();
  if (watch_) watch_->stop(executor_ ? executor_->operations() : 0);
}

}  // namespace tutti
