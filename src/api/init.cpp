// SPDX-License-Identifier: Apache-2.0
#include "api/init.hpp"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "runtime/bootstrap/split.hpp"
#include "runtime/communicator/communicator.hpp"
#include "runtime/failure/lateness.hpp"

namespace tutti::api {

Result<Reading> Reading::of(Environment environment) {
  TUTTI_TRY_ASSIGN(Variables variables, Variables::load(environment, ConfPaths::standard(environment)));
  TUTTI_TRY_ASSIGN(std::unique_ptr<Log> log, Log::create(variables, LogWriter::of_this_process()));
  return Reading{std::move(environment), std::move(variables), std::move(log)};
}

void Reading::tell_warnings() const {
  for (const std::string& warning : variables.warnings()) log->warn(LogSubsystem::env, "{}", warning);
}

namespace {

// Up to the last field of the first version. Fields are added at the end, and zero is what the initializer gives them.
constexpr std::size_t kLeastConfigBytes = offsetof(tuttiConfig_t, variables) + sizeof(tuttiConfig_t::variables);
constexpr std::size_t kMostConfigBytes = 4096;

// The program's header may have had fewer fields than this library's, or more.
Result<tuttiConfig_t> read_config(const tuttiConfig_t& given) {
  if (given.size < kLeastConfigBytes || given.size > kMostConfigBytes || given.version / 10000 != TUTTI_MAJOR)
    return Status(Code::invalid_argument,
                  fmt::format("the config is of {} bytes and of version {}, and this library's of {} bytes and version "
                              "{}; begin one as tuttiConfig_t config = TUTTI_CONFIG_INITIALIZER",
                              given.size, given.version, sizeof(tuttiConfig_t), TUTTI_VERSION));
  const auto* const bytes = reinterpret_cast<const unsigned char*>(&given);
  for (std::size_t byte = sizeof(tuttiConfig_t); byte < given.size; ++byte)
    if (bytes[byte] != 0)
      return Status(Code::unsupported, fmt::format("the config of version {} sets something that this library, of "
                                                   "version {}, does not know",
                                                   given.version, TUTTI_VERSION));
  tuttiConfig_t config = TUTTI_CONFIG_INITIALIZER;
  std::memcpy(&config, &given, std::min(given.size, sizeof config));
  return config;
}

}  // namespace

Result<Environment> with_config(Environment environment, const tuttiConfig_t* config) {
  if (config == nullptr) return environment;
  TUTTI_TRY_ASSIGN(const tuttiConfig_t read, read_config(*config));
  for (const char* const* each = read.variables; each != nullptr && *each != nullptr; ++each) {
    const std::string_view text = *each;
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos || equals == 0)
      return Status(Code::invalid_argument, fmt::format("config.variables has \"{}\", which is not NAME=VALUE", text));
    environment.set(std::string(text.substr(0, equals)), std::string(text.substr(equals + 1)), "config.variables");
  }
  return environment;
}

Status check_no_group() {
  if (thread_work.open_groups == 0) return {};
  return {Code::unsupported, "communicators cannot be made within a group; one thread is one rank, and making blocks"};
}

namespace {

// Where it cannot be recorded the program runs all the same.
void record(const std::string& folder, Surroundings& surroundings, const Communicator& communicator) noexcept {
  if (folder.empty()) return;
  try {
    Log& log = *surroundings.log;
    surroundings.recorder = std::make_unique<Recorder>(Recorder::Options{
        .folder = folder,
        .ranks = communicator.num_ranks(),
        .rank = communicator.rank(),
        .line = surroundings.line,
        .warn = [&log](std::string_view text) { log.warn(LogSubsystem::coll, "TUTTI_RECORD: {}", text); }});
  } catch (const std::bad_alloc&) {
    surroundings.recorder.reset();
  }
}

}  // namespace

namespace {

using NamedFabric = std::shared_ptr<const on_fabric::NamedFabric>;

// The fabric that the variables name, which may be the parent's; null: none.
Result<NamedFabric> find_fabric(const Variables& variables, const Surroundings* parent) {
  const std::string words = variables.get<VariableId::fabric>();
  if (words.empty()) return NamedFabric();
  const on_fabric::VirtualTime* const time = parent == nullptr ? nullptr : parent->virtual_time.get();
  if (time != nullptr && time->named_fabric()->variable == words) return time->named_fabric();
  return on_fabric::NamedFabric::load(words);
}

// From here on calls take virtual time.
Status enter_virtual_time(NamedFabric fabric, const Membership& place, const Variables& variables,
                          Surroundings& surroundings, Communicator& communicator) {
  const on_fabric::VirtualTime* const parent = place.parent == nullptr ? nullptr : place.parent->virtual_time.get();
  TUTTI_TRY_ASSIGN(surroundings.virtual_time,
                   on_fabric::VirtualTime::make(communicator, {.fabric = std::move(fabric),
                                                               .clock = parent == nullptr ? nullptr : parent->clock(),
                                                               .place = surroundings.line,
                                                               .variables = variables,
                                                               .log = *surroundings.log}));
  if (!variables.get<VariableId::record>().empty() && place.rank == 0 && place.parent == nullptr)
    surroundings.log->warn(LogSubsystem::coll, "TUTTI_RECORD: calls in virtual time are not recorded");
  return {};
}

// Ranks take the interfaces of their host in splits as in what was split.
std::optional<std::uint32_t> turn_of(const Surroundings* parent) {
  return parent == nullptr ? std::nullopt : std::optional(parent->turn);
}

}  // namespace

Status init(tuttiComm_t* comm, Reading reading, const Membership& place, std::function<Status()> in_vain) {
  reading.log->set_rank(Rank(place.rank));
  const Result<NamedFabric> fabric = find_fabric(reading.variables, place.parent);
  if (!fabric.ok()) return decline(place, fabric.status());
  if (place.rank == 0 && reading.has_news) reading.tell_warnings();
  auto surroundings = std::make_unique<Surroundings>();
  surroundings->environment = std::move(reading.environment);
  surroundings->log = std::move(reading.log);
  TUTTI_TRY_ASSIGN(std::unique_ptr<Communicator> communicator,
                   Communicator::join(place.id, place.num_ranks, place.rank, place.attempt, reading.variables,
                                      *surroundings->log, std::move(in_vain), turn_of(place.parent)));
  surroundings->line = place.parent == nullptr ? static_cast<std::uint32_t>(place.rank) : place.parent->line;
  surroundings->turn = turn_of(place.parent).value_or(communicator->hosts().place_of(communicator->rank()));
  if (*fabric != nullptr)
    TUTTI_TRY(enter_virtual_time(*fabric, place, reading.variables, *surroundings, *communicator));
  else
    record(reading.variables.get<VariableId::record>(), *surroundings, *communicator);
  *comm = new_handle(std::move(surroundings), std::move(communicator));
  return {};
}

Result<Reading> read_as_of(const tuttiComm& parent, const tuttiConfig_t* config) {
  try {
    Result<Environment> environment = with_config(parent.surroundings->environment, config);
    if (!environment.ok()) return environment.status();
    Result<Reading> reading = Reading::of(std::move(*environment));
    if (reading.ok()) reading->has_news = config != nullptr;
    return reading;
  } catch (const std::bad_alloc&) {
    return no_memory();
  }
}

Status no_memory() { return Status::from_errno("there is no memory for a communicator", ENOMEM); }

Status decline(const Membership& place, Status why) {
  // Whether they hear of it is all the same to this rank.
  constexpr Nanos kTimeToSaySo{5'000'000'000};
  if (place.num_ranks > 1)
    static_cast<void>(join(
        {.id = place.id, .rank = place.rank, .num_ranks = place.num_ranks, .attempt = place.attempt, .refusal = why},
        {.late_warning = Nanos(), .timeout = kTimeToSaySo}));
  return why;
}

}  // namespace tutti::api

namespace {

using tutti::Environment;
using tutti::Result;
using tutti::Status;
using tutti::api::guarded;
using tutti::api::Reading;
using tutti::api::refuse;
using tutti::api::report;

// However the making of the new communicator ends: without one, the others are told not to wait for this rank, unless
// they can see why for themselves.
class SplitPromise {
 public:
  SplitPromise(const tuttiComm& parent, std::uint64_t number, const tuttiComm_t& made)
      : parent_(parent), number_(number), made_(made) {
    parent.communicator->say_why_not("it has no memory for a communicator");  // unless it can say more
  }
  SplitPromise(const SplitPromise&) = delete;
  SplitPromise& operator=(const SplitPromise&) = delete;
  ~SplitPromise() {
    if (made_ == nullptr && !is_seen_by_all_) parent_.communicator->give_up_split(number_);
    if (!has_lost_patience_) tutti::tell_no_wait(region(), parent_.communicator->rank());
  }

  // Asked again and again while the group meets.
  [[nodiscard]] Status why_in_vain(const tutti::SplitGroup& group) {
    tutti::tell_wait_in(region(), parent_.communicator->rank(), tutti::OuterCall::split);
    Status why = tutti::why_in_vain(*parent_.communicator, group);
    is_seen_by_all_ = is_seen_by_all_ || !why.ok();
    return why;
  }
  void lose_patience() { has_lost_patience_ = true; }

 private:
  [[nodiscard]] const tutti::shm::Region& region() const { return parent_.communicator->region(); }

  const tuttiComm& parent_;
  const std::uint64_t number_;
  const tuttiComm_t& made_;
  bool is_seen_by_all_ = false;
  bool has_lost_patience_ = false;
};

}  // namespace

extern "C" {

tuttiResult_t tuttiCommInitRankConfig(tuttiComm_t* comm, int num_ranks, tuttiUniqueId id, int rank,
                                      const tuttiConfig_t* config) {
  return guarded([&]() -> tuttiResult_t {
    if (comm == nullptr) return refuse("comm is null");
    *comm = nullptr;
    if (const Status status = tutti::api::check_no_group(); !status.ok()) return report(status);
    tutti::UniqueId::Raw raw;
    std::memcpy(raw.data(), id.internal, raw.size());
    const Result<tutti::UniqueId> parsed = tutti::UniqueId::from_bytes(raw);
    if (!parsed.ok()) return report(parsed.status());
    const tutti::api::Membership place{.id = *parsed, .num_ranks = num_ranks, .rank = rank};
    try {
      Result<Environment> environment = tutti::api::with_config(Environment::of_this_process(), config);
      if (!environment.ok()) return report(decline(place, environment.status()));
      Result<Reading> reading = Reading::of(std::move(*environment));
      if (!reading.ok()) return report(decline(place, reading.status()));
      return report(init(comm, std::move(*reading), place));
    } catch (const std::bad_alloc&) {
      return report(decline(place, tutti::api::no_memory()));
    }
  });
}

tuttiResult_t tuttiCommInitRank(tuttiComm_t* comm, int num_ranks, tuttiUniqueId id, int rank) {
  return tuttiCommInitRankConfig(comm, num_ranks, id, rank, nullptr);
}

tuttiResult_t tuttiCommSplit(tuttiComm_t comm, int color, int key, tuttiComm_t* newcomm, const tuttiConfig_t* config) {
  return tutti::api::within(comm, [&]() -> tuttiResult_t {
    if (newcomm == nullptr) return refuse("newcomm is null");
    *newcomm = nullptr;
    // Whatever is wrong here alone, the others are told of it.
    constexpr const char* kNoColor = "color is negative, and not TUTTI_SPLIT_NOCOLOR";
    const bool is_color = color >= 0 || color == TUTTI_SPLIT_NOCOLOR;
    Result<Reading> reading = tutti::api::read_as_of(*comm, config);
    Status wrong = tutti::api::check_no_group();
    if (wrong.ok()) wrong = reading.status();
    const bool can = is_color && wrong.ok();
    if (!can) comm->communicator->say_why_not(wrong.ok() ? kNoColor : wrong.message());
    const Result<tutti::SplitGroup> group = tutti::split(*comm->communicator, can ? color : tutti::kSplitRefused, key);
    if (!wrong.ok()) return report(wrong);
    if (!is_color) return refuse(kNoColor);
    if (!group.ok()) return report(group.status());
    if (group->num_ranks == 0) return tuttiSuccess;
    SplitPromise promise(*comm, group->number, *newcomm);
    const Status made =
        init(newcomm, std::move(*reading),
             {.id = group->id, .num_ranks = group->num_ranks, .rank = group->rank, .parent = comm->surroundings.get()},
             [&] { return promise.why_in_vain(*group); });
    if (!made.ok()) comm->communicator->say_why_not(made.message());
    if (made.code() == tutti::Code::timeout) promise.lose_patience();
    return report(made);
  });
}

tuttiResult_t tuttiCommDup(tuttiComm_t comm, tuttiComm_t* newcomm) {
  return tuttiCommSplit(comm, 0, 0, newcomm, nullptr);
}

}  // extern "C"
