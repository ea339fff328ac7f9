// SPDX-License-Identifier: Apache-2.0
#include "workload/merge.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <memory>
#include <set>
#include <tuple>
#include <utility>

#include <cxxabi.h>
#include <fmt/format.h>

#include "base/counted.hpp"
#include "data/message_size.hpp"

namespace tutti {

namespace {

constexpr std::string_view kOwnApi = "tutti";

// Of all ranks alike, wherever each calls from.
using What = std::tuple<Collective, std::uint64_t, Type, std::uint32_t>;
using Where = std::pair<What, std::string>;
// What ranks must agree on: collective, bytes and root. In MPI a rank may send elements, and another take a type of
// them.
using Agreed = std::tuple<Collective, std::uint64_t, std::uint32_t>;

// Where blocks differ in size each rank may know another sum.
bool is_alike_everywhere(Collective collective) {
  return collective != Collective::all_to_all_v && collective != Collective::gather_v &&
         collective != Collective::scatter_v;
}

// Of all blocks; where they differ in size they are at least an element each, which the format wants.
std::uint64_t bytes_of(const What& what, std::uint32_t ranks) {
  const auto [collective, count, type, root] = what;
  if (collective == Collective::barrier) return 0;
  if (!facts_of(collective).varies) return count * num_blocks(collective, ranks) * size_of(type);
  return std::max<std::uint64_t>(count, ranks) * size_of(type);
}

struct Total {
  std::uint64_t calls = 0;
  double time_us = 0;  // of all of them
  double compute_us = 0;
  void add(const PartCall& call) {
    calls += call.calls;
    time_us += call.time_us * static_cast<double>(call.calls);
    compute_us += call.compute_us * static_cast<double>(call.calls);
  }
};

// What one line of ranks has called on communicators of one size.
struct Lane {
  std::vector<Where> order;  // of the first calls
  std::map<Where, Total> calls;
  std::map<Agreed, std::uint64_t> counts;

  void add(const Part& part, const SiteName& name) {
    for (const PartCall& call : part.calls) {
      const Where where{{call.collective, call.count, call.type, call.root}, name(call.site)};
      const auto [found, is_new] = calls.try_emplace(where);
      if (is_new) order.push_back(where);
      found->second.add(call);
      counts[{call.collective, bytes_of(where.first, part.ranks), call.root}] += call.calls;
    }
  }
};

bool moves_nothing(const What& what) { return std::get<0>(what) != Collective::barrier && std::get<1>(what) == 0; }

std::string without_arguments(std::string_view name) {
  constexpr std::string_view kUnnamed = "(anonymous namespace)::";
  std::string shown(name);
  for (std::size_t at = 0; (at = shown.find(kUnnamed)) != std::string::npos;) shown.erase(at, kUnnamed.size());
  constexpr std::string_view kCallOperator = "operator()";
  const std::size_t from = shown.find(kCallOperator);
  const std::size_t bracket = shown.find('(', from == std::string::npos ? 0 : from + kCallOperator.size());
  return bracket == 0 ? shown : shown.substr(0, bracket);
}

std::string demangled(const std::string& symbol) {
  int failure = 0;
  const std::unique_ptr<char, void (*)(void*)> name(abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &failure),
                                                    std::free);
  return failure == 0 && name != nullptr ? without_arguments(name.get()) : symbol;
}

std::string process_of(const Part& part) { return fmt::format("{}.{}", part.host, part.process); }

class Merger {
 public:
  Merger(std::span<const Part> parts, const SiteName& name) : parts_(parts), name_(name) {}

  Result<Merged> merge() {
    find_counting();
    for (const Part& part : parts_) {
      lanes_[part.ranks][part.line].add(part, name_);
      if (is_counting(part)) counting_[part.ranks].add(part, name_);
    }
    std::uint64_t nothing = 0;
    std::uint32_t most = 1;
    for (const auto& [ranks, lane] : counting_) most = std::max(most, lane.order.empty() ? 1 : ranks);
    merged_.workload.ranks = most;
    for (auto size = counting_.rbegin(); size != counting_.rend(); ++size)
      for (const Where& where : size->second.order)
        if (moves_nothing(where.first)) {
          nothing += size->second.calls.at(where).calls;
        } else {
          add_entries(size->first, where, size->second.calls.at(where));
        }
    tell(nothing);
    if (merged_.workload.entries.empty())
      return Status(Code::invalid_usage,
                    nothing == 0 ? "no rank has called a collective"
                                 : fmt::format("{} of no elements, and no other collective", counted(nothing, "call")));
    return std::move(merged_);
  }

 private:
  // Of several programs each has such a process.
  void find_counting() {
    std::map<std::string, std::uint32_t> most;
    for (const Part& part : parts_) {
      std::uint32_t& ranks = most[process_of(part)];
      ranks = std::max(ranks, part.ranks);
      largest_ = std::max(largest_, part.ranks);
    }
    const auto least_line = [&] {
      std::uint32_t least = UINT32_MAX;
      for (const Part& part : parts_)
        if (part.ranks == most[process_of(part)]) least = std::min(least, part.line);
      return least;
    };
    line_ = least_line();
    for (const Part& part : parts_)
      if (part.ranks == most[process_of(part)] && part.line == line_) processes_.insert(process_of(part));
  }
  [[nodiscard]] bool is_counting(const Part& part) const {
    return part.line == line_ && processes_.contains(process_of(part));
  }

  void add_entries(std::uint32_t ranks, const Where& where, const Total& counted) {
    // All ranks that call the same from the same place; each weighs alike.
    double time_us = 0;
    double compute_us = 0;
    double number = 0;
    for (const auto& [line, lane] : lanes_[ranks]) {
      const auto found = lane.calls.find(where);
      if (found == lane.calls.end() || found->second.calls == 0) continue;
      time_us += found->second.time_us / static_cast<double>(found->second.calls);
      compute_us += found->second.compute_us / static_cast<double>(found->second.calls);
      ++number;
    }
    const auto rounded = [&](double sum) { return std::round(sum / std::max(number, 1.0) * 1000) / 1000; };
    WorkloadEntry entry{.collective = std::get<0>(where.first),
                        .ranks = ranks,
                        .bytes = bytes_of(where.first, ranks),
                        .type = std::get<2>(where.first),
                        .root = std::get<3>(where.first),
                        .compute_us = rounded(compute_us),
                        .measured_us = rounded(time_us),
                        .site = where.second,
                        .algorithm = {},
                        .place = {}};
    for (std::uint64_t left = counted.calls; left > 0; left -= entry.calls) {
      entry.calls = static_cast<std::uint32_t>(std::min<std::uint64_t>(left, kMostWorkloadCalls));
      merged_.workload.entries.push_back(entry);
    }
  }

  void tell(std::uint64_t nothing) {
    std::uint64_t transfers = 0;
    std::uint64_t left_out = 0;
    std::uint64_t unfinished = 0;
    for (const Part& part : parts_) {
      transfers += is_counting(part) ? part.transfers : 0;
      left_out += is_counting(part) ? part.left_out : 0;
      unfinished += part.is_whole ? 0 : 1;
    }
    const auto note = [&](std::string text) { merged_.notes.push_back(std::move(text)); };
    if (transfers > 0)
      note(fmt::format("left out {}: a workload has collectives only",
                       transfers == 1 ? "1 send or receive" : fmt::format("{} sends and receives", transfers)));
    if (nothing > 0) note(fmt::format("{} of no elements left out", counted(nothing, "call")));
    if (left_out > 0) note(fmt::format("{} left out: there are too many different ones", counted(left_out, "call")));
    if (line_ != 0 && line_ != UINT32_MAX)
      note(fmt::format("rank 0 has written nothing: the counts are those of rank {}", line_));
    if (unfinished > 0)
      note(fmt::format("{} incomplete: the last calls are missing",
                       unfinished == 1 ? "1 recording is" : fmt::format("{} recordings are", unfinished)));
    tell_missing();
    tell_disagreement();
  }

  void tell_missing() {
    std::string missing;
    std::uint32_t number = 0;
    const auto& lanes = lanes_[largest_];
    for (std::uint32_t rank = 0; rank < largest_; ++rank)
      if (!lanes.contains(rank) && ++number <= kMostNamed)
        missing += fmt::format("{}{}", missing.empty() ? "" : ", ", rank);
    if (number > 0)
      merged_.notes.push_back(fmt::format("of {} {} wrote nothing: {}{}", counted(largest_, "rank"), number, missing,
                                          number > kMostNamed ? " …" : ""));
  }

  // Of the largest communicators, in which all ranks are.
  void tell_disagreement() {
    const auto& lanes = lanes_[largest_];
    const auto first = lanes.find(line_);
    if (first == lanes.end()) return;
    std::uint32_t number = 0;
    for (const auto& [line, lane] : lanes)
      for (const auto& what : all_of(first->second, lane)) {
        const std::uint64_t here = calls_in(first->second, what);
        const std::uint64_t there = calls_in(lane, what);
        if (here == there || !is_alike_everywhere(std::get<0>(what)) || ++number > kMostNamed) continue;
        merged_.notes.push_back(fmt::format("ranks disagree: {} of {} B {} by rank {}, and {} by rank {}",
                                            name_of(std::get<0>(what)), std::get<1>(what), counted(here, "call"), line_,
                                            there, line));
      }
    if (number > kMostNamed)
      merged_.notes.push_back(fmt::format("and {} more", counted(number - kMostNamed, "disagreement")));
  }
  static std::set<Agreed> all_of(const Lane& a, const Lane& b) {
    std::set<Agreed> all;
    for (const auto& [what, calls] : a.counts) all.insert(what);
    for (const auto& [what, calls] : b.counts) all.insert(what);
    return all;
  }
  static std::uint64_t calls_in(const Lane& lane, const Agreed& what) {
    const auto found = lane.counts.find(what);
    return found == lane.counts.end() ? 0 : found->second;
  }

  static constexpr std::uint32_t kMostNamed = 8;

  std::span<const Part> parts_;
  const SiteName& name_;
  std::uint32_t largest_ = 1;
  std::uint32_t line_ = 0;
  std::set<std::string> processes_;                               // whose calls count
  std::map<std::uint32_t, std::map<std::uint32_t, Lane>> lanes_;  // by ranks and line
  std::map<std::uint32_t, Lane> counting_;                        // by ranks
  Merged merged_;
};

}  // namespace

std::string name_of_site(const CallSite& site) {
  if (!site.symbol.empty()) return fmt::format("{}+{:#x}", demangled(site.symbol), site.in_symbol);
  if (site.module.empty()) return {};
  return fmt::format("{}+{:#x}", site.module.substr(site.module.rfind('/') + 1), site.offset);
}

// A program may start with another library's calls, such as a broadcast of MPI, and then use Tutti's.
Result<Merged> merge(std::span<const Part> parts, const SiteName& name) {
  std::set<std::string> apis;
  for (const Part& part : parts)
    if (!part.calls.empty()) apis.insert(part.api);
  const std::string kept = apis.empty() || apis.contains(std::string(kOwnApi)) ? std::string(kOwnApi) : *apis.begin();
  std::vector<Part> of_kept;
  for (const Part& part : parts)
    if (part.api == kept) of_kept.push_back(part);
  Result<Merged> merged = Merger(of_kept, name).merge();
  if (!merged.ok()) return merged;
  merged->api = kept;
  apis.erase(kept);
  for (const std::string& other : apis)
    merged->notes.push_back(fmt::format("left out the calls of {}: a workload is of one library", other));
  return merged;
}

}  // namespace tutti
