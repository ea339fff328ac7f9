// SPDX-License-Identifier: Apache-2.0
// The C API but for the collectives: errors, communicators, memory, operators.
#include <algorithm>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "api/handle.hpp"
#include "api/init.hpp"
#include "api/scalar.hpp"
#include "base/log.hpp"
#include "base/variables/environment.hpp"
#include "base/variables/variables.hpp"
#include "runtime/bootstrap/addresses.hpp"
#include "runtime/bootstrap/rendezvous.hpp"
#include "runtime/bootstrap/start/start.hpp"
#include "runtime/communicator/communicator.hpp"
#include <tutti/tutti.h>

namespace {

using tutti::api::guarded;
using tutti::api::init;
using tutti::api::is_live;
using tutti::api::objection_to;
using tutti::api::Reading;
using tutti::api::refuse;
using tutti::api::refuse_handle;
using tutti::api::report;
using tutti::api::within;
using tutti::api::within_finalized;

static_assert(sizeof(tuttiUniqueId) == tutti::UniqueId::kBytes);

// The rendezvous servers of the ids that this process has given out. A server ends by itself once its communicator is
// up; the table only keeps it alive until then.
class GivenIds {
 public:
  void keep(std::unique_ptr<tutti::RendezvousServer> server) {
    const std::scoped_lock lock(mutex_);
    std::erase_if(servers_, [](const auto& each) { return each->finished() > 0; });
    servers_.push_back(std::move(server));
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<tutti::RendezvousServer>> servers_;
};

// Counts the communicators of the launcher's id. Ranks with equal counts meet.
class LaunchedAttempts {
 public:
  tutti::Attempt take() {
    const std::scoped_lock lock(mutex_);
    process_ = getpid();
    const tutti::Attempt taken = next_;
    ++next_.generation;
    return taken;
  }
  // Of one that was taken: which is to follow it.
  void settle(const tutti::Attempt& next) {
    const std::scoped_lock lock(mutex_);
    next_.generation = next.is_unsure ? next.generation : std::max(next_.generation, next.generation);
    next_.is_unsure = next.is_unsure;
  }
  // The process that is the launched rank, where this one is but a fork of it; else 0.
  pid_t forked_from() {
    const std::scoped_lock lock(mutex_);
    return process_ != 0 && process_ != getpid() ? process_ : 0;
  }

 private:
  std::mutex mutex_;
  tutti::Attempt next_;
  pid_t process_ = 0;
};

// The two things that belong to the process and not to a communicator; a C API has no other place for them.
GivenIds& given_ids() {
  static GivenIds ids;
  return ids;
}

LaunchedAttempts& launched_attempts() {
  static LaunchedAttempts attempts;
  return attempts;
}

// One of them, while it is made.
class LaunchedAttempt {
 public:
  LaunchedAttempt() : taken_(launched_attempts().take()), attempt_(taken_) {}
  LaunchedAttempt(const LaunchedAttempt&) = delete;
  LaunchedAttempt& operator=(const LaunchedAttempt&) = delete;
  // An attempt that the others never heard of may be repeated.
  ~LaunchedAttempt() { launched_attempts().settle({attempt_.generation, attempt_.is_unsure || !has_met()}); }

  // For join(), which leaves there how it went on.
  [[nodiscard]] tutti::Attempt* get() { return &attempt_; }
  [[nodiscard]] bool has_met() const {
    return attempt_.generation != taken_.generation || attempt_.is_unsure != taken_.is_unsure;
  }

 private:
  const tutti::Attempt taken_;
  tutti::Attempt attempt_;
};

tutti::Start& start_of_this_process() {
  static tutti::Start start;
  return start;
}

// As a rank of those that were started together, as far as that can be told without what is wrong.
tutti::Status decline_launched(tutti::Status why, std::optional<LaunchedAttempt>& attempt) {
  const tutti::Environment environment = tutti::Environment::of_this_process();
  const tutti::Variables variables =
      tutti::Variables::read(environment, tutti::ConfPaths::standard(environment)).variables;
  const tutti::StartOptions options{
      .late_warning = {}, .timeout = variables.get<tutti::VariableId::timeout>(), .warn = {}};
  const tutti::Result<tutti::Started> started = start_of_this_process().find(environment, variables, options);
  if (!started.ok()) return why;
  if (!attempt) attempt.emplace();
  return tutti::api::decline(
      {.id = started->id, .num_ranks = started->num_ranks, .rank = started->rank, .attempt = attempt->get()},
      std::move(why));
}

tutti::Status init_launched(tuttiComm_t* comm, std::optional<LaunchedAttempt>& attempt) {
  tutti::Result<Reading> reading = Reading::of(tutti::Environment::of_this_process());
  if (!reading.ok()) return decline_launched(reading.status(), attempt);
  tutti::Log& log = *reading->log;
  const tutti::StartOptions options{
      .late_warning = reading->variables.get<tutti::VariableId::late_warning>(),
      .timeout = reading->variables.get<tutti::VariableId::timeout>(),
      .warn = [&log](std::string_view text) { log.warn(tutti::LogSubsystem::init, "{}", text); },
      .meanwhile = tutti::exhaust_thread,
  };
  // It refuses before the communicator counts: a rank that is refused must not be one ahead of the others.
  const tutti::Result<tutti::Started> started =
      start_of_this_process().find(reading->environment, reading->variables, options);
  if (!started.ok()) {
    reading->tell_warnings();  // which may be why
    return started.status();
  }
  log.info(tutti::LogSubsystem::init, "rank {} of {}, started by {}", started->rank, started->num_ranks, started->by);
  reading->has_news = !started->has_told_warnings;
  attempt.emplace();
  return init(comm, std::move(*reading),
              {.id = started->id, .num_ranks = started->num_ranks, .rank = started->rank, .attempt = attempt->get()});
}

tuttiResult_t create_operator(tuttiRedOp_t* op, const tutti::Operator& custom, tuttiComm_t comm) {
  const tutti::Result<tutti::OperatorHandle> handle = comm->communicator->create_operator(custom);
  if (!handle.ok()) return report(handle.status());
  *op = static_cast<tuttiRedOp_t>(handle->value);
  return tuttiSuccess;
}

}  // namespace

extern "C" {

tuttiResult_t tuttiGetVersion(int* version) {
  if (version == nullptr) return refuse("version is null");
  *version = TUTTI_VERSION;
  return tuttiSuccess;
}

const char* tuttiGetErrorString(tuttiResult_t result) {
  switch (result) {
    case tuttiSuccess: return "no error";
    case tuttiSystemError: return "system error";
    case tuttiInternalError: return "internal error";
    case tuttiInvalidArgument: return "invalid argument";
    case tuttiInvalidUsage: return "invalid usage";
    case tuttiRemoteError: return "remote error";
    case tuttiTimeout: return "timeout";
    case tuttiUnsupported: return "unsupported";
  }
  return "unknown result code";
}

const char* tuttiGetLastError(tuttiComm_t) { return tutti::api::last_error().c_str(); }

tuttiResult_t tuttiGetUniqueId(tuttiUniqueId* id) {
  return guarded([&]() -> tuttiResult_t {
    if (id == nullptr) return refuse("id is null");
    // Other hosts reach it where an interface is asked for.
    const tutti::Result<tutti::api::Reading> reading = tutti::api::Reading::of(tutti::Environment::of_this_process());
    if (!reading.ok()) return report(reading.status());
    const auto addresses = tutti::addresses_of_interfaces(reading->variables);
    if (!addresses.ok()) return report(addresses.status());
    tutti::RendezvousOptions options{.most_generations = 1};
    if (!addresses->of_interfaces.empty()) options.address = addresses->of_interfaces.front().front();
    auto server = tutti::RendezvousServer::start(options);
    if (!server.ok()) return report(server.status());
    const tutti::UniqueId::Raw raw = (*server)->id().to_bytes();
    std::memcpy(id->internal, raw.data(), raw.size());
    given_ids().keep(std::move(*server));
    return tuttiSuccess;
  });
}

tuttiResult_t tuttiCommInitLaunched(tuttiComm_t* comm) {
  return guarded([&]() -> tuttiResult_t {
    if (comm == nullptr) return refuse("comm is null");
    *comm = nullptr;
    if (const tutti::Status status = tutti::api::check_no_group(); !status.ok()) return report(status);
    if (const pid_t rank = launched_attempts().forked_from(); rank != 0)
      return report({tutti::Code::invalid_usage,
                     fmt::format("this process is a child that process {} has forked, and that is the rank of the "
                                 "launcher already; ranks of their own meet by tuttiGetUniqueId and tuttiCommInitRank",
                                 rank)});
    std::optional<LaunchedAttempt> attempt;
    try {
      return report(init_launched(comm, attempt));
    } catch (const std::bad_alloc&) {
      // The others wait for this rank, unless it has reached them.
      if (attempt && attempt->has_met()) throw;
      return report(decline_launched(tutti::api::no_memory(), attempt));
    }
  });
}

tuttiResult_t tuttiCommFinalize(tuttiComm_t comm) {
  return within_finalized(comm, [&] {
    const tutti::Status finalized = comm->communicator->finalize();
    if (comm->surroundings->virtual_time != nullptr) comm->surroundings->virtual_time->settle();
    return report(finalized);
  });
}

tuttiResult_t tuttiCommDestroy(tuttiComm_t comm) {
  if (comm == nullptr) return tuttiSuccess;
  if (!is_live(comm)) return refuse_handle(comm);
  if (!comm->communicator->enter()) return report(tutti::api::another_thread());
  const tuttiResult_t result = guarded([&] {
    comm->communicator->take_over();
    const tutti::Status settled = comm->communicator->settle();
    if (comm->surroundings->virtual_time != nullptr) comm->surroundings->virtual_time->settle();
    return report(settled);
  });
  static_cast<void>(guarded([&] {
    tutti::api::log_statistics(*comm);
    return tuttiSuccess;
  }));
  // Such a copy stays until its process ends.
  if (comm->communicator->is_torn()) return result;
  comm->unrecorded = nullptr;
  comm->recorder = nullptr;
  comm->surroundings->virtual_time.reset();
  comm->communicator.reset();
  comm->surroundings.reset();
  return result;
}

tuttiResult_t tuttiCommAbort(tuttiComm_t comm) {
  return guarded([&]() -> tuttiResult_t {
    if (!is_live(comm)) return refuse_handle(comm);
    comm->communicator->abort("tuttiCommAbort was called");
    if (comm->surroundings->virtual_time != nullptr)
      comm->surroundings->virtual_time->abort("tuttiCommAbort was called");
    return comm->communicator->is_of_this_process() ? tuttiSuccess : report(comm->communicator->failure());
  });
}

tuttiResult_t tuttiCommCount(tuttiComm_t comm, int* count) {
  if (!is_live(comm)) return refuse_handle(comm);
  if (count == nullptr) return refuse("count is null");
  *count = static_cast<int>(comm->communicator->num_ranks());
  return tuttiSuccess;
}

tuttiResult_t tuttiCommUserRank(tuttiComm_t comm, int* rank) {
  if (!is_live(comm)) return refuse_handle(comm);
  if (rank == nullptr) return refuse("rank is null");
  *rank = static_cast<int>(comm->communicator->rank());
  return tuttiSuccess;
}

tuttiResult_t tuttiCommGetAsyncError(tuttiComm_t comm, tuttiResult_t* async_error) {
  if (!is_live(comm)) return refuse_handle(comm);
  if (async_error == nullptr) return refuse("async_error is null");
  // The call itself succeeds: the words of the last error stay.
  return guarded([&]() -> tuttiResult_t {
    *async_error = tutti::api::result_of(comm->communicator->async_error());
    return tuttiSuccess;
  });
}

tuttiResult_t tuttiMemAlloc(void** memory, size_t bytes, tuttiComm_t comm) {
  return within(comm, [&]() -> tuttiResult_t {
    if (memory == nullptr) return refuse("memory is null");
    *memory = nullptr;
    const tutti::Result<void*> part = comm->communicator->allocate(bytes);
    if (!part.ok()) return report(part.status());
    *memory = *part;
    return tuttiSuccess;
  });
}

tuttiResult_t tuttiMemFree(void* memory, tuttiComm_t comm) {
  return within(comm, [&] { return report(comm->communicator->free(memory)); });
}

tuttiResult_t tuttiRedOpCreatePreMulSum(tuttiRedOp_t* op, const void* scalar, tuttiDataType_t datatype,
                                        tuttiComm_t comm) {
  return within(comm, [&]() -> tuttiResult_t {
    if (const char* words = objection_to(datatype)) return refuse(words);
    if (op == nullptr || scalar == nullptr) return refuse(op == nullptr ? "op is null" : "scalar is null");
    tutti::Operator custom{.op = tutti::Op::premultiplied_sum, .type = static_cast<tutti::Type>(datatype)};
    tutti::api::read_scalar(scalar, custom.type, custom);
    return create_operator(op, custom, comm);
  });
}

tuttiResult_t tuttiRedOpCreate(tuttiRedOp_t* op, tuttiRedOpFunction_t function, void* context, int commutative,
                               tuttiDataType_t datatype, tuttiComm_t comm) {
  return within(comm, [&]() -> tuttiResult_t {
    if (const char* words = objection_to(datatype)) return refuse(words);
    if (op == nullptr || function == nullptr) return refuse(op == nullptr ? "op is null" : "function is null");
    return create_operator(op,
                           {.op = tutti::Op::user,
                            .type = static_cast<tutti::Type>(datatype),
                            .function = function,
                            .context = context,
                            .commutative = commutative != 0},
                           comm);
  });
}

tuttiResult_t tuttiRedOpDestroy(tuttiRedOp_t op, tuttiComm_t comm) {
  return within_finalized(
      comm, [&] { return report(comm->communicator->destroy_operator({static_cast<std::uint32_t>(op)})); });
}

}  // extern "C"
