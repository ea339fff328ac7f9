// SPDX-License-Identifier: Apache-2.0
// torchrun's variables. Its workers have RANK and WORLD_SIZE, which others set too, and TORCHELASTIC_RUN_ID, which only
// it sets. MASTER_PORT belongs to torch's own store, so the ranks meet elsewhere; it still tells starts apart. Over
// several hosts they meet at another port of MASTER_ADDR.
#include <fmt/format.h>

#include "base/text.hpp"
#include "runtime/bootstrap/start/network_meeting.hpp"

namespace tutti::start {

namespace {

constexpr std::string_view kRunId = "TORCHELASTIC_RUN_ID";
constexpr std::string_view kRestarts = "TORCHELASTIC_RESTART_COUNT";
constexpr std::string_view kPort = "MASTER_PORT";
constexpr std::string_view kRanksHere = "LOCAL_WORLD_SIZE";

// Who sets variables by hand may not say how many ranks are on a host; then they may be on several if MASTER_ADDR is a
// name for others.
bool may_be_on_several_hosts(const Environment& environment, const Ranks& ranks) {
  if (ranks.num_ranks == 1 || environment.lookup(kRanksHere)) return ranks.span_hosts;
  const std::optional<std::string> master = environment.lookup("MASTER_ADDR");
  return master && !trim(*master).empty() && !is_name_of_loopback(trim(*master));
}

Found by_variables(Process& process, std::string_view by) {
  const Environment& environment = process.environment;
  const Result<Ranks> ranks =
      ranks_in(environment, {.rank = "RANK", .num_ranks = "WORLD_SIZE", .num_here = kRanksHere});
  if (!ranks.ok()) return ranks.status();
  TUTTI_TRY_ASSIGN(const std::optional<std::int64_t> port, number_in(environment, kPort, {1, 65535}));
  TUTTI_TRY_ASSIGN(const std::optional<std::int64_t> restarts, number_in(environment, kRestarts, {0, 1 << 30}));
  const std::optional<std::string> run = environment.lookup(kRunId);
  if (!run && !port && ranks->num_ranks > 1)
    return Status(Code::invalid_usage, fmt::format("RANK and WORLD_SIZE are set, and neither {} nor {}, which tell "
                                                   "one start from another; set one of them, alike for all ranks",
                                                   kPort, kRunId));
  std::string key = fmt::format("{} (", by);
  if (run) key += fmt::format("{} {}, ", kRunId, printable(*run));
  if (restarts) key += fmt::format("{} {}, ", kRestarts, *restarts);
  key += port ? fmt::format("{} {})", kPort, *port) : fmt::format("no {})", kPort);
  const LocalMeeting meeting{by, *ranks, std::move(key)};
  if (!may_be_on_several_hosts(environment, *ranks)) {
    TUTTI_TRY_ASSIGN(const Started started, meet_here(process, meeting));
    return std::optional(started);
  }
  TUTTI_TRY_ASSIGN(
      const MeetingHost host,
      master_host(environment, fmt::format("WORLD_SIZE is {}, and {} of these are on this host", ranks->num_ranks,
                                           environment.lookup(kRanksHere).value_or("?"))));
  TUTTI_TRY_ASSIGN(const Started started, meet_on_network(process, meeting, host));
  return std::optional(started);
}

}  // namespace

Found by_torchrun(Process& process) {
  if (!process.environment.lookup(kRunId)) return nothing();
  return by_variables(process, "torchrun");
}

Found by_rank_variables(Process& process) {
  // Either may be there alone for another reason.
  const bool rank = process.environment.lookup("RANK").has_value();
  const bool size = process.environment.lookup("WORLD_SIZE").has_value();
  if (rank && size) return by_variables(process, "RANK and WORLD_SIZE");
  if (rank || size)
    process.remarks.emplace_back(rank ? "RANK is set and WORLD_SIZE is not" : "WORLD_SIZE is set and RANK is not");
  return nothing();
}

}  // namespace tutti::start
