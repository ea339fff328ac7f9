// SPDX-License-Identifier: Apache-2.0
#include "cli/probe/probe_hosts.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <ostream>
#include <sstream>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/counted.hpp"
#include "calibrate/measure.hpp"
#include "calibrate/network/fit_network.hpp"
#include "cli/launch/read_hosts.hpp"
#include "cli/output.hpp"
#include "cli/probe/network_output.hpp"
#include "cli/probe/probe_rank.hpp"
#include "launch/host_group.hpp"
#include "launch/reach.hpp"

namespace tutti::cli {

namespace {

constexpr int kSignalBase = 128;
constexpr std::size_t kMeasuredRanks = 2;  // of a host that has so many: one for the network, one beside it
constexpr std::size_t kMostProbedHosts = 64;

// Where ranks are to be.
struct ProbePlaces {
  std::vector<std::string> names;      // of hosts, in the order of their first ranks
  std::vector<int> counts;             // of ranks of the fabric on each
  std::vector<std::uint32_t> host_of;  // by rank of the fabric
};

Result<ProbePlaces> places_on_hosts(const HostsProbe& options, const Environment& environment) {
  TUTTI_TRY_ASSIGN(const std::vector<launch::HostRanks> entries,
                   read_hosts(options.on, environment, options.num_ranks));
  ProbePlaces places;
  std::map<std::string, std::uint32_t> numbers;
  for (const launch::HostRanks& entry : entries) {
    if (entry.ranks.count == 0) continue;
    const auto [host, is_new] = numbers.try_emplace(entry.host, static_cast<std::uint32_t>(places.names.size()));
    if (is_new) places.names.push_back(entry.host);
    places.counts.resize(places.names.size());
    places.counts[host->second] += entry.ranks.count;
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
  return places;
}

// What processes on the hosts have done.
struct Ran {
  int code = 0;
  std::string said;
  std::vector<std::string> host_of_rank;

  // A process that a signal has ended says nothing of the network.
  [[nodiscard]] std::string broken_pair() const {
    return code == 0 || code > kSignalBase ? std::string() : broken_pair_in(said, host_of_rank);
  }
};

class HostsProber {
 public:
  HostsProber(const HostsProbe& options, const ProbePlaces& places, const Context& context)
      : options_(options), places_(places), context_(context) {}

  Exit run() {
    if (const Exit named = name_interfaces(); named != Exit::done) return named;
    for (std::size_t interface = 0; interface < std::max<std::size_t>(most_interfaces_, 1); ++interface)
      if (const Exit done = measure_interface(interface); done != Exit::done) return done;
    if (common_.empty()) return without_fabric();
    choose_for_fabric();
    const Exit together = measure_together();
    show();
    return together == Exit::done ? write() : together;
  }

 private:
  [[nodiscard]] Exit failed_with(const Status& status) const { return failed(context_, "probe", status); }

  // At most so many ranks on each of these hosts.
  Result<Ran> on_hosts(const std::vector<std::size_t>& hosts, std::size_t most_ranks, const RankTask& task) {
    launch::HostsOptions launched;
    launched.group.environment = context_.environment;
    // Hosts may be containers that share cores; the system knows better who is to be where.
    launched.group.bind_to_cores = false;
    launched.variables = own_variables(context_.environment);
    // Ranks wait long for others that are measured.
    std::erase_if(launched.variables, [](const Environment::Pair& pair) { return pair.first == "TUTTI_TIMEOUT"; });
    Ran ran;
    for (const std::size_t host : hosts) {
      const int count = std::min(places_.counts[host], static_cast<int>(most_ranks));
      const int first = static_cast<int>(ran.host_of_rank.size());
      launched.hosts.push_back({.host = places_.names[host], .ranks = {.first = first, .count = count, .total = 0}});
      ran.host_of_rank.insert(ran.host_of_rank.end(), static_cast<std::size_t>(count), places_.names[host]);
    }
    for (launch::HostRanks& each : launched.hosts) each.ranks.total = static_cast<int>(ran.host_of_rank.size());
    TUTTI_TRY(reach_hosts_by(options_.on, launched));
    launched.group.command = {launched.tutti, "probe", "--of-network", to_text(task)};
    std::ostringstream said;
    TUTTI_TRY_ASSIGN(ran.code, launch::run_on_hosts(launched, said, context_.error));
    ran.said = std::move(said).str();
    return ran;
  }

  [[nodiscard]] std::vector<std::size_t> all_hosts() const {
    std::vector<std::size_t> all(places_.names.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    return all;
  }

  Exit name_interfaces() {
    const Result<Ran> ran = on_hosts(all_hosts(), 1, {.kind = RankTask::Kind::name_interfaces});
    if (!ran.ok()) return failed_with(ran.status());
    if (ran->code != 0) return static_cast<Exit>(ran->code);
    interfaces_ = interfaces_in(ran->said, places_.names.size());
    for (const std::vector<std::string>& names : interfaces_)
      most_interfaces_ = std::max(most_interfaces_, names.size());
    // A host that names none is reached by one alone.
    if (std::any_of(interfaces_.begin(), interfaces_.end(), [](const auto& names) { return names.empty(); }))
      most_interfaces_ = 0;
    return Exit::done;
  }

  // What hosts call it: one name, or several with slashes between.
  [[nodiscard]] std::string name_of(std::size_t interface) const {
    std::vector<std::string> names;
    for (const std::vector<std::string>& of_host : interfaces_)
      if (interface < of_host.size() && std::find(names.begin(), names.end(), of_host[interface]) == names.end())
        names.push_back(of_host[interface]);
    return fmt::format("{}", fmt::join(names, "/"));
  }

  Exit measure_interface(std::size_t interface) {
    std::vector<std::size_t> hosts = all_hosts();
    if (most_interfaces_ > 0)
      std::erase_if(hosts, [&](std::size_t host) { return interface >= interfaces_[host].size(); });
    const std::string name = name_of(interface);
    const std::string at = most_interfaces_ > 1 ? " at " + name : "";
    if (hosts.size() < 2) {
      context_.error << fmt::format("{} probe: only host {} has {} interfaces or more; its {} is not measured\n",
                                    context_.program, places_.names[hosts.front()], interface + 1, name);
      return Exit::done;
    }
    for (const std::size_t host : all_hosts())
      if (most_interfaces_ > 0 && interface >= interfaces_[host].size())
        context_.error << fmt::format("{} probe: host {} has {} only, so the fabric leaves {} out\n", context_.program,
                                      places_.names[host], counted(interfaces_[host].size(), "interface"), name);
    context_.error << fmt::format("measuring {} of hosts{}, each alone, then all at once; some seconds a pair\n",
                                  counted(hosts.size() * (hosts.size() - 1) / 2, "pair"), at);
    RankTask task;
    if (most_interfaces_ > 1) task.interfaces = {interface};
    const Result<Ran> ran = on_hosts(hosts, kMeasuredRanks, task);
    if (!ran.ok()) return failed_with(ran.status());
    if (ran->code != 0) return take_failure(*ran, at);
    Result<calibrate::NetworkMeasurements> measured = calibrate::from_lines(ran->said);
    if (!measured.ok())
      return failed_with(measured.status().with_context("rank 0 printed something other than measurements"));
    if (measured->num_hosts() != hosts.size())
      return failed_with(
          wrong_argument(fmt::format("--hosts names {} hosts, but their ranks are on {}: name each host "
                                     "once",
                                     hosts.size(), measured->num_hosts())));
    for (const std::size_t host : hosts) measured->names.push_back(places_.names[host]);
    measured->date = calibrate::today();
    if (most_interfaces_ > 0) measured->interface = name;
    if (hosts.size() == places_.names.size()) common_.push_back({interface, measured_.size()});
    measured_.push_back(std::move(*measured));
    return Exit::done;
  }

  // A pair that does not reach each other at one of several interfaces is no reason to stop.
  Exit take_failure(const Ran& ran, const std::string& at) {
    const std::string broken = ran.broken_pair();
    failure_ = static_cast<Exit>(ran.code);
    if (broken.empty()) return failure_;
    const bool goes_on = most_interfaces_ > 1;
    context_.error << fmt::format("{} probe: {}{}; {}; the pairs after this one were not tried\n", context_.program,
                                  broken, at,
                                  goes_on ? "a fabric leaves that interface out" : "a fabric needs every pair");
    return goes_on ? Exit::done : failure_;
  }

  // Those that all hosts have, as far as there are ranks to use them.
  void choose_for_fabric() {
    const auto most_ranks = static_cast<std::size_t>(*std::max_element(places_.counts.begin(), places_.counts.end()));
    const std::size_t used = std::min(common_.size(), most_ranks);
    for (std::size_t each = 0; each < used; ++each) fabric_.interfaces.push_back(measured_[common_[each].measured]);
    if (used < common_.size())
      context_.error << fmt::format("no host has more than {}, so the fabric has {} of the interfaces\n",
                                    counted(most_ranks, "rank"), used);
  }

  // What ranks of a host send while they use interfaces in turn.
  Exit measure_together() {
    if (fabric_.interfaces.size() < 2) return Exit::done;
    RankTask task{.kind = RankTask::Kind::together};
    for (std::size_t each = 0; each < fabric_.interfaces.size(); ++each) task.interfaces.push_back(common_[each].place);
    context_.error << "measuring all interfaces at once\n";
    const Result<Ran> ran = on_hosts(all_hosts(), fabric_.interfaces.size(), task);
    if (!ran.ok()) return failed_with(ran.status());
    if (ran->code != 0) {
      context_.error << fmt::format(
          "{} probe: what hosts send at all interfaces at once could not be measured; no "
          "fabric is written\n",
          context_.program);
      return static_cast<Exit>(ran->code);
    }
    Result<std::vector<double>> together = calibrate::together_from_line(ran->said);
    if (!together.ok())
      return failed_with(together.status().with_context("rank 0 printed something other than measurements"));
    fabric_.together = std::move(*together);
    return Exit::done;
  }

  void show_tables() const {
    OutputOptions of_table;
    of_table.format = options_.format;
    context_.out << rendered(table_of_pairs(measured_), of_table);
    if (options_.format == Format::table) context_.out << "\n" << rendered(table_of_hosts(measured_), of_table);
    for (const calibrate::NetworkMeasurements& one : measured_) context_.error << words_of_all(one);
  }

  Exit without_fabric() const {
    if (!measured_.empty()) show_tables();
    if (failure_ == Exit::done)
      return failed_with(
          wrong_argument("no interface is on all hosts, and a fabric needs one; TUTTI_SOCKET_IFNAME says "
                         "which are used"));
    return failure_;
  }

  void show() const {
    show_tables();
    if (const std::string together = calibrate::words_of_together(fabric_); !together.empty())
      context_.error << together << "\n";
    if (common_.size() < most_interfaces_) {
      std::vector<std::string> names;
      for (const Common& each : common_) names.push_back(name_of(each.place));
      context_.error << fmt::format(
          "all hosts reach each other at {} only; name no others in TUTTI_SOCKET_IFNAME, since "
          "where two hosts have another, some ranks try it first\n",
          fmt::join(names, ", "));
    }
    context_.error << "the fabric: " << calibrate::in_words(fabric_) << "\n";
  }

  Exit write() const {
    if (options_.path.empty()) {
      context_.error << "-o FILE keeps it as a fabric\n";
      return Exit::done;
    }
    OutputOptions output;
    output.path = options_.path;
    const Status written = write_output(calibrate::file_of(fabric_, places_.host_of), output, context_);
    if (!written.ok()) return failed_with(written);
    context_.error << fmt::format("{} simulate --fabric {} --collective all_reduce takes it\n", context_.program,
                                  with_folder(options_.path));
    return Exit::done;
  }

  // An interface that all hosts have, and at which all reach each other.
  struct Common {
    std::size_t place;     // among those of a host
    std::size_t measured;  // among those measured
  };

  const HostsProbe& options_;
  const ProbePlaces& places_;
  const Context& context_;
  std::vector<std::vector<std::string>> interfaces_;  // by host: what ranks there take in turn
  std::size_t most_interfaces_ = 0;
  std::vector<calibrate::NetworkMeasurements> measured_;
  std::vector<Common> common_;
  Exit failure_ = Exit::done;
  calibrate::HostsMeasurements fabric_;
};

}  // namespace

Exit probe_hosts(const HostsProbe& options, const Context& context) {
  OutputOptions output;
  output.path = options.path;
  if (const Status status = check_output(output); !status.ok()) return failed(context, "probe", status);
  const Result<ProbePlaces> places = places_on_hosts(options, context.environment);
  if (!places.ok()) return failed(context, "probe", places.status());
  return HostsProber(options, *places, context).run();
}

}  // namespace tutti::cli
