// SPDX-License-Identifier: Apache-2.0
#include "cli/probe/probe_rank.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <ostream>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/counted.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "base/variables/conf.hpp"
#include "base/variables/variables.hpp"
#include "calibrate/network/measure_network.hpp"
#include "calibrate/network/measure_together.hpp"
#include "runtime/bootstrap/addresses.hpp"
#include "runtime/bootstrap/start/start.hpp"
#include "runtime/communicator/communicator.hpp"

namespace tutti::cli {

namespace {

constexpr auto kTasks =
    std::to_array<std::pair<RankTask::Kind, std::string_view>>({{RankTask::Kind::name_interfaces, "interfaces"},
                                                                {RankTask::Kind::measure, "pairs"},
                                                                {RankTask::Kind::together, "together"}});
constexpr std::string_view kInterfaces = "interfaces ";
// What ranks say of two that do not reach each other: one that measured them or is one of them; and one that was told.
constexpr std::string_view kBrokenPair = "broken ";
constexpr std::string_view kLostRank = "lost ";
constexpr std::size_t kMostInterfaces = 1000;

// Those that ranks of this host take in turn. Where a rank stripes over all of them, or does not use them, there are
// none.
Result<std::vector<std::string>> interfaces_in_turn(const Variables& variables) {
  if (variables.text(VariableId::transport) == "ofi" || variables.get<VariableId::sockets_per_peer>() > 1)
    return std::vector<std::string>();
  return names_of_interfaces(variables);
}

// As if only these interfaces had been asked for.
Result<Variables> with_interfaces(const std::vector<std::size_t>& places, const Variables& variables,
                                  const Context& context) {
  TUTTI_TRY_ASSIGN(const std::vector<std::string> names, names_of_interfaces(variables));
  std::vector<std::string> wanted;
  for (const std::size_t place : places) {
    if (place >= names.size())
      return Status(Code::invalid_usage,
                    fmt::format("TUTTI_SOCKET_IFNAME names {} of this host; the probe needs number {}",
                                counted(names.size(), "interface"), place + 1));
    wanted.push_back(names[place]);
  }
  Environment environment = context.environment;
  environment.set("TUTTI_SOCKET_IFNAME", fmt::format("={}", fmt::join(wanted, ",")));
  return Variables::load(environment, ConfPaths::standard(environment));
}

Exit name_interfaces(const Variables& variables, int rank, const Context& context) {
  const Result<std::vector<std::string>> names = interfaces_in_turn(variables);
  if (!names.ok()) return failed(context, "probe", names.status());
  context.out << fmt::format("{}{}{}{}\n", kInterfaces, rank, names->empty() ? "" : " ", fmt::join(*names, " "));
  return Exit::done;
}

// The rank that another one was lost to, where the words of an error say so. Whoever was told knows it from them, also
// a rank that measures another pair meanwhile, or is the one that was lost.
std::optional<std::int64_t> lost_to(std::string_view words) {
  constexpr std::string_view kBefore = "was lost to rank ";
  const std::size_t begin = words.find(kBefore);
  if (begin == std::string_view::npos) return std::nullopt;
  words.remove_prefix(begin + kBefore.size());
  const Result<std::int64_t> rank = parse_integer(words.substr(0, words.find(':')));
  return rank.ok() ? std::optional(*rank) : std::nullopt;
}

// The error of a rank, and on standard output, for the launcher, the pair that was at it.
Exit say_broken(const Context& context, const Status& error, const calibrate::BrokenPair& pair, int rank,
                const Communicator* communicator) {
  const bool is_loss = error.code() == Code::rank_lost && error.rank() >= 0 && error.rank() != rank;
  const bool is_of_pair = pair.here >= 0 && (error.rank() == pair.here || error.rank() == pair.there);
  const std::string_view words = error.message();
  const bool is_own =
      is_loss && (communicator == nullptr ? words.starts_with("cannot reach rank ")
                                          : communicator->cannot_reach(static_cast<std::uint32_t>(error.rank())));
  if (is_own) {
    context.out << kBrokenPair << rank << " " << error.rank() << "\n";
  } else if (const std::optional<std::int64_t> other = lost_to(words); other && error.rank() >= 0) {
    context.out << kBrokenPair << *other << " " << error.rank() << "\n";
  } else if (is_loss && is_of_pair) {
    context.out << kBrokenPair << pair.here << " " << pair.there << "\n";
  } else if (is_loss && pair.here < 0) {
    context.out << kLostRank << rank << " " << error.rank() << "\n";
  }
  context.out.flush();
  return failed(context, "probe", error);
}

Exit measure(const RankTask& task, const Started& started, const Variables& variables, Log& log,
             const Context& context) {
  Result<std::unique_ptr<Communicator>> communicator =
      Communicator::join(started.id, started.num_ranks, started.rank, nullptr, variables, log);
  if (!communicator.ok()) return say_broken(context, communicator.status(), {}, started.rank, nullptr);
  calibrate::BrokenPair pair;
  std::string found;
  Status outcome;
  if (task.kind == RankTask::Kind::together) {
    const Result<std::vector<double>> together = calibrate::measure_together(**communicator, {});
    outcome = together.status();
    if (together.ok()) found = calibrate::to_line(*together);
  } else {
    const Result<calibrate::NetworkMeasurements> measured = calibrate::measure_network(**communicator, {}, pair);
    outcome = measured.status();
    if (measured.ok()) found = calibrate::to_lines(*measured);
  }
  if (!outcome.ok()) return say_broken(context, outcome, pair, started.rank, communicator->get());
  if (started.rank == 0) context.out << found;
  return Exit::done;
}

// The last pair of hosts that a line with these words names.
std::string pair_in(std::string_view said, std::string_view begun, const std::vector<std::string>& host_of_rank) {
  std::string found;
  for (const std::string_view line : split(said, '\n')) {
    if (!line.starts_with(begun)) continue;
    const std::vector<std::string_view> words = split(line.substr(begun.size()), ' ');
    if (words.size() != 2) continue;
    const Result<std::int64_t> here = parse_integer(words[0]);
    const Result<std::int64_t> there = parse_integer(words[1]);
    const auto is_rank = [&](const Result<std::int64_t>& rank) {
      return rank.ok() && *rank >= 0 && static_cast<std::size_t>(*rank) < host_of_rank.size();
    };
    if (!is_rank(here) || !is_rank(there)) continue;
    const std::string& one = host_of_rank[static_cast<std::size_t>(*here)];
    const std::string& other = host_of_rank[static_cast<std::size_t>(*there)];
    // A rank that has lost another of its own host says nothing of the network.
    if (one != other) found = fmt::format("hosts {} and {} do not reach each other", one, other);
  }
  return found;
}

}  // namespace

std::string to_text(const RankTask& task) {
  const auto row =
      std::find_if(kTasks.begin(), kTasks.end(), [&](const auto& each) { return each.first == task.kind; });
  if (task.interfaces.empty()) return std::string(row->second);
  return fmt::format("{}:{}", row->second, fmt::join(task.interfaces, ","));
}

Result<RankTask> parse_rank_task(std::string_view text) {
  const Status malformed = wrong_argument(fmt::format("{} is no task of a rank", in_quotes(text)));
  const std::size_t colon = text.find(':');
  const auto row = std::find_if(kTasks.begin(), kTasks.end(),
                                [&](const auto& each) { return each.second == text.substr(0, colon); });
  if (row == kTasks.end()) return malformed;
  RankTask task{.kind = row->first};
  if (colon == std::string_view::npos) return task;
  for (const std::string_view word : split(text.substr(colon + 1), ',')) {
    const Result<std::int64_t> place = parse_integer(word);
    if (!place.ok() || *place < 0 || *place >= static_cast<std::int64_t>(kMostInterfaces)) return malformed;
    task.interfaces.push_back(static_cast<std::size_t>(*place));
  }
  return task;
}

Exit probe_as_rank(const RankTask& task, const Context& context) {
  Result<Variables> variables = Variables::load(context.environment, ConfPaths::standard(context.environment));
  if (variables.ok() && !task.interfaces.empty()) variables = with_interfaces(task.interfaces, *variables, context);
  if (!variables.ok()) return failed(context, "probe", variables.status());
  const Result<std::unique_ptr<Log>> log = Log::create(*variables, LogWriter::of_this_process());
  if (!log.ok()) return failed(context, "probe", log.status());
  Start start;
  const Result<Started> started = start.find(context.environment, *variables, {});
  if (!started.ok()) return failed(context, "probe", started.status());
  (*log)->set_rank(Rank(started->rank));
  if (task.kind == RankTask::Kind::name_interfaces) return name_interfaces(*variables, started->rank, context);
  return measure(task, *started, *variables, **log, context);
}

std::vector<std::vector<std::string>> interfaces_in(std::string_view said, std::size_t num_ranks) {
  std::vector<std::vector<std::string>> found(num_ranks);
  for (const std::string_view line : split(said, '\n')) {
    if (!line.starts_with(kInterfaces)) continue;
    const std::vector<std::string_view> words = split(line.substr(kInterfaces.size()), ' ');
    const Result<std::int64_t> rank = parse_integer(words.front());
    if (!rank.ok() || *rank < 0 || static_cast<std::size_t>(*rank) >= num_ranks) continue;
    found[static_cast<std::size_t>(*rank)].assign(words.begin() + 1, words.end());
  }
  return found;
}

std::string broken_pair_in(std::string_view said, const std::vector<std::string>& host_of_rank) {
  const std::string found = pair_in(said, kBrokenPair, host_of_rank);
  return found.empty() ? pair_in(said, kLostRank, host_of_rank) : found;
}

}  // namespace tutti::cli
