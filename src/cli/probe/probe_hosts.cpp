// SPDX-License-Identifier: Apache-2.0
#include "cli/probe/probe_hosts.hpp"

#include <algorithm>
#include <map>
#include <ostream>
#include <sstream>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/counted.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "base/variables/conf.hpp"
#include "base/variables/variables.hpp"
#include "calibrate/measure.hpp"
#include "calibrate/network/fit_network.hpp"
#include "calibrate/network/measure_network.hpp"
#include "cli/launch/read_hosts.hpp"
#include "cli/output.hpp"
#include "launch/host_group.hpp"
#include "launch/reach.hpp"
#include "runtime/bootstrap/start/start.hpp"
#include "runtime/communicator/communicator.hpp"

namespace tutti::cli {

namespace {

// What ranks say of two ranks that do not reach each other: who was at it, or has found it; and who has heard of it.
constexpr std::string_view kBrokenPair = "broken ";
constexpr std::string_view kLostRank = "lost ";
constexpr int kSignalBase = 128;
constexpr int kMeasuredRanks = 2;  // of a host that has so many: one for the network, one beside it
constexpr std::size_t kMostProbedHosts = 64;

// Where ranks are to be, and where those that measure are.
struct ProbePlaces {
  std::vector<std::string> names;      // of hosts, in the order of their first ranks
  std::vector<std::uint32_t> host_of;  // by rank of the fabric
  std::vector<launch::HostRanks> measured;
  std::vector<std::string> host_of_measured;  // by rank of those
};

Result<ProbePlaces> places_on_hosts(const HostsProbe& options, const Environment& environment) {
  TUTTI_TRY_ASSIGN(const std::vector<launch::HostRanks> entries,
                   read_hosts(options.on, environment, options.num_ranks));
  ProbePlaces places;
  std::map<std::string, std::uint32_t> numbers;
  std::vector<int> counts;
  for (const launch::HostRanks& entry : entries) {
    if (entry.ranks.count == 0) continue;
    const auto [host, is_new] = numbers.try_emplace(entry.host, static_cast<std::uint32_t>(places.names.size()));
    if (is_new) places.names.push_back(entry.host);
    counts.resize(places.names.size());
    counts[host->second] += entry.ranks.count;
    places.host_of.insert(places.host_of.end(), static_cast<std::size_t>(entry.ranks.count), host->second);
  }
  if (places.names.size() < 2)
    return wrong_argument(
        fmt::format("--hosts names {}; a network needs two at least; without --hosts, this "
                    "machine is measured",
                    counted(places.names.size(), "host")));
  if (places.names.size() > kMostProbedHosts)
    return wrong_argument(fmt::format("--hosts names {} hosts; at most {} are measured, since every pair is",
                                      places.names.size(), kMostProbedHosts));
  int total = 0;
  for (const int count : counts) total += std::min(count, kMeasuredRanks);
  int first = 0;
  for (std::size_t host = 0; host < counts.size(); ++host) {
    const int count = std::min(counts[host], kMeasuredRanks);
    places.measured.push_back({.host = places.names[host], .ranks = {.first = first, .count = count, .total = total}});
    places.host_of_measured.insert(places.host_of_measured.end(), static_cast<std::size_t>(count), places.names[host]);
    first += count;
  }
  return places;
}

Status set_probe_launch(const HostsProbe& options, const ProbePlaces& places, const Context& context,
                        launch::HostsOptions& launched) {
  launched.group.environment = context.environment;
  // Hosts may be containers that share cores; the system knows better who is to be where.
  launched.group.bind_to_cores = false;
  launched.variables = own_variables(context.environment);
  // Ranks wait long for others that are measured.
  std::erase_if(launched.variables, [](const Environment::Pair& pair) { return pair.first == "TUTTI_TIMEOUT"; });
  launched.hosts = places.measured;
  TUTTI_TRY(reach_hosts_by(options.on, launched));
  launched.group.command = {launched.tutti, "probe", "--of-network"};
  return {};
}

double in_microseconds(double nanos) { return nanos / 1e3; }
double in_megabytes(double rate) { return rate * 1e3; }

Table table_of_hosts(const calibrate::NetworkMeasurements& measured) {
  constexpr int kShown = 4;
  Table table({{"host"},
               {.name = "measured_ranks"},
               {.name = "to_all_mbs", .digits = kShown},
               {.name = "from_all_mbs", .digits = kShown},
               {.name = "send_us", .digits = kShown},
               {.name = "receive_us", .digits = kShown},
               {.name = "own_fold_gbs", .digits = kShown},
               {.name = "near_us", .digits = kShown},
               {.name = "near_mbs", .digits = kShown}});
  const auto or_null = [](double value) { return value > 0 ? Cell(value) : Cell(); };
  for (std::size_t host = 0; host < measured.num_hosts(); ++host) {
    const calibrate::HostTimes& of = measured.hosts[host];
    table.add_row({measured.names[host], static_cast<std::int64_t>(of.ranks), or_null(in_megabytes(of.out)),
                   or_null(in_megabytes(of.in)), in_microseconds(of.send), in_microseconds(of.receive), of.fold,
                   or_null(in_microseconds(of.near_hop)), or_null(in_megabytes(of.near_rate))});
  }
  return table;
}

Exit show_network(const HostsProbe& options, const ProbePlaces& places, const calibrate::NetworkMeasurements& measured,
                  const Context& context) {
  OutputOptions of_table;
  of_table.format = options.format;
  context.out << rendered(table_of_pairs(measured), of_table);
  if (options.format == Format::table) context.out << "\n" << rendered(table_of_hosts(measured), of_table);
  context.error << fmt::format(
                       "while all hosts send: a step of 8 bytes {:.4g} us, of {} {:.4g} us; a stream {:.4g} MB/s "
                       "each way of a host\n",
                       in_microseconds(measured.steps.front().time), to_text(Bytes(measured.steps.back().bytes)),
                       in_microseconds(measured.steps.back().time), in_megabytes(measured.all))
                << "the fabric: " << calibrate::in_words(calibrate::shape_of(measured)) << "\n";
  if (options.path.empty()) {
    context.error << "-o FILE keeps it as a fabric\n";
    return Exit::done;
  }
  OutputOptions output;
  output.path = options.path;
  const Status written = write_output(calibrate::file_of(measured, places.host_of), output, context);
  if (!written.ok()) return failed(context, "probe", written);
  context.error << fmt::format("{} simulate --fabric {} --collective all_reduce takes it\n", context.program,
                               with_folder(options.path));
  return Exit::done;
}

}  // namespace

Table table_of_pairs(const calibrate::NetworkMeasurements& measured) {
  constexpr int kShown = 4;
  Table table({{"from"},
               {"to"},
               {.name = "half_round_trip_us", .digits = kShown},
               {.name = "one_way_mbs", .digits = kShown},
               {.name = "both_ways_mbs", .digits = kShown}});
  for (std::size_t from = 0; from < measured.num_hosts(); ++from) {
    for (std::size_t to = 0; to < measured.num_hosts(); ++to) {
      if (from == to) continue;
      const calibrate::PairTimes& pair = measured.pair(from, to);
      table.add_row({measured.names[from], measured.names[to], in_microseconds(pair.half_round_trip),
                     in_megabytes(pair.one_way), in_megabytes(pair.both_ways)});
    }
  }
  return table;
}

namespace {

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

std::string broken_pair_in(std::string_view said, const std::vector<std::string>& host_of_rank) {
  const std::string found = pair_in(said, kBrokenPair, host_of_rank);
  return found.empty() ? pair_in(said, kLostRank, host_of_rank) : found;
}

Exit probe_hosts(const HostsProbe& options, const Context& context) {
  OutputOptions output;
  output.path = options.path;
  if (const Status status = check_output(output); !status.ok()) return failed(context, "probe", status);
  const Result<ProbePlaces> places = places_on_hosts(options, context.environment);
  if (!places.ok()) return failed(context, "probe", places.status());
  launch::HostsOptions launched;
  if (const Status status = set_probe_launch(options, *places, context, launched); !status.ok())
    return failed(context, "probe", status);
  context.error << fmt::format("measuring {} of hosts, each alone, then all at once; some seconds a pair\n",
                               counted(places->names.size() * (places->names.size() - 1) / 2, "pair"));
  std::ostringstream said;
  const Result<int> code = launch::run_on_hosts(launched, said, context.error);
  if (!code.ok()) return failed(context, "probe", code.status());
  if (*code != 0) {
    // A process that a signal has ended says nothing of the network.
    const bool was_signal = *code > kSignalBase;
    if (const std::string broken = broken_pair_in(said.str(), places->host_of_measured); !broken.empty() && !was_signal)
      context.error << fmt::format("{} probe: {}; a fabric needs every pair; the pairs after this one were not tried\n",
                                   context.program, broken);
    return static_cast<Exit>(*code);
  }
  Result<calibrate::NetworkMeasurements> measured = calibrate::from_lines(said.str());
  if (!measured.ok())
    return failed(context, "probe", measured.status().with_context("rank 0 printed something other than measurements"));
  if (measured->num_hosts() != places->names.size()) {
    return failed(context, "probe",
                  wrong_argument(fmt::format("--hosts names {} hosts, but their ranks are on {}: name each host once",
                                             places->names.size(), measured->num_hosts())));
  }
  measured->names = places->names;
  measured->date = calibrate::today();
  return show_network(options, *places, *measured, context);
}

namespace {

// The error of a rank, and on standard output, for the launcher, the pair that was at it.
Exit say_broken(const Context& context, const Status& error, const calibrate::BrokenPair& pair, int rank,
                const Communicator* communicator) {
  const bool is_loss = error.code() == Code::rank_lost && error.rank() >= 0 && error.rank() != rank;
  const bool is_of_pair = pair.here >= 0 && (error.rank() == pair.here || error.rank() == pair.there);
  const bool is_own =
      is_loss && communicator != nullptr && communicator->cannot_reach(static_cast<std::uint32_t>(error.rank()));
  if (is_own) {
    context.out << kBrokenPair << rank << " " << error.rank() << "\n";
  } else if (is_loss && is_of_pair) {
    context.out << kBrokenPair << pair.here << " " << pair.there << "\n";
  } else if (is_loss && pair.here < 0) {
    context.out << kLostRank << rank << " " << error.rank() << "\n";
  }
  context.out.flush();
  return failed(context, "probe", error);
}

}  // namespace

Exit probe_as_rank(const Context& context) {
  const Result<Variables> variables = Variables::load(context.environment, ConfPaths::standard(context.environment));
  if (!variables.ok()) return failed(context, "probe", variables.status());
  const Result<std::unique_ptr<Log>> log = Log::create(*variables, LogWriter::of_this_process());
  if (!log.ok()) return failed(context, "probe", log.status());
  Start start;
  const Result<Started> started = start.find(context.environment, *variables, {});
  if (!started.ok()) return failed(context, "probe", started.status());
  (*log)->set_rank(Rank(started->rank));
  Result<std::unique_ptr<Communicator>> communicator =
      Communicator::join(started->id, started->num_ranks, started->rank, nullptr, *variables, **log);
  if (!communicator.ok()) return say_broken(context, communicator.status(), {}, started->rank, nullptr);
  calibrate::BrokenPair pair;
  const Result<calibrate::NetworkMeasurements> measured = calibrate::measure_network(**communicator, {}, pair);
  if (!measured.ok()) return say_broken(context, measured.status(), pair, started->rank, communicator->get());
  if (started->rank == 0) context.out << calibrate::to_lines(*measured);
  return Exit::done;
}

}  // namespace tutti::cli
