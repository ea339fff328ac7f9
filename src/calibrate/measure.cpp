// SPDX-License-Identifier: Apache-2.0
// Ping-pong by two ranks that are threads, over a region of their own.
#include "calibrate/measure.hpp"

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <ctime>
#include <map>
#include <mutex>
#include <span>
#include <thread>

#include <fmt/format.h>

#include "base/log.hpp"
#include "calibrate/ping_pong.hpp"
#include "data/kernel.hpp"
#include "runtime/communicator/communicator.hpp"
#include "runtime/selection/machine_profile.hpp"

namespace tutti::calibrate {

namespace {

constexpr std::uint32_t kHopsOfCall = 8;
constexpr std::uint32_t kStepsOfCall = 32;
constexpr std::uint64_t kShortest = 8;
constexpr std::size_t kApart = 528;           // elements
constexpr std::uint64_t kMostSlot = 1 << 20;  // longer messages take as long a byte
constexpr std::uint64_t kLeastWorkingSet = 32 << 10;

enum class Extent : std::uint8_t { all, ends };  // ends: copying hops of the shortest and the longest message
// What the ranks measure, each number the same on both; rank 0 keeps the times.
enum class Part : std::uint8_t { hops, none, steps, exchange, mark };
struct Cell {
  Part part = Part::hops;
  Hop hop = Hop::copy;
  std::uint64_t bytes = 0;                        // of the rank's input, as of its output
  auto operator<=>(const Cell&) const = default;  // NOLINT(modernize-use-nullptr): its 0 is no pointer
};

class PingPong {
 public:
  PingPong(const Settings& settings, const Thoroughness& thoroughness, Log& log, std::shared_ptr<shm::Region> region,
           const std::vector<int>& cores, Extent extent)
      : settings_(settings),
        thoroughness_(thoroughness),
        log_(log),
        region_(std::move(region)),
        cores_(cores),
        extent_(extent),
        most_(settings.region.message_slot) {}

  [[nodiscard]] Status run() {
    {
      std::vector<std::jthread> threads;
      for (std::uint32_t rank = 0; rank < 2; ++rank) threads.emplace_back([this, rank] { be(rank); });
    }
    return failed_;
  }

  // The time of a call, in the passes that count.
  [[nodiscard]] double time_of(const Cell& cell) const {
    const auto found = times_.find(cell);
    if (found == times_.end()) return 0;
    std::vector<double> times;
    for (const std::size_t pass : steadiness_.passes) times.push_back(found->second[pass]);
    return median_of(std::move(times));
  }
  [[nodiscard]] const Steadiness& steadiness() const { return steadiness_; }
  [[nodiscard]] std::uint32_t passes() const { return passes_; }
  [[nodiscard]] std::uint64_t longest() const { return most_; }
  // What it is about, in order of size.
  [[nodiscard]] std::vector<std::uint64_t> sizes() const {
    std::vector<std::uint64_t> sizes;
    if (extent_ == Extent::ends) return {kShortest, most_};
    for (std::uint64_t bytes = kShortest; bytes < most_; bytes *= 2) sizes.push_back(bytes);
    sizes.push_back(most_);
    return sizes;
  }
  [[nodiscard]] std::vector<std::uint64_t> working_sets() const {
    std::vector<std::uint64_t> sets;
    if (extent_ == Extent::ends) return sets;
    for (std::uint64_t bytes = kLeastWorkingSet; bytes <= thoroughness_.most_working_set; bytes *= 2)
      sets.push_back(bytes);
    return sets;
  }

 private:
  [[nodiscard]] std::span<const Hop> hops() const {
    return std::span(kHops).first(extent_ == Extent::ends ? 1 : std::size(kHops));
  }

  void be(std::uint32_t rank) {
    pin_to(cores_[rank]);
    const std::unique_ptr<Communicator> communicator =
        Communicator::over(region_, static_cast<int>(rank), settings_, log_);
    const std::uint64_t room = std::max(most_, thoroughness_.most_working_set / 2);
    // Parts of a page apart, so that what is read does not agree with what is written in the low bits of its address.
    const auto input = make_zeroes(room / sizeof(float));
    const auto output = make_zeroes(room / sizeof(float) + kApart);
    for (bool is_enough = false; !is_enough;) {
      const auto time = [&](const Cell& cell) {
        return measure(*communicator, cell, input.get(), output.get() + kApart);
      };
      bool goes_on = time({.part = Part::steps, .bytes = kShortest});
      for (const std::uint64_t bytes : sizes()) {
        for (const Hop hop : hops())
          goes_on = goes_on && time({.part = Part::none, .hop = hop, .bytes = bytes}) &&
                    time({.part = Part::hops, .hop = hop, .bytes = bytes});
      }
      for (const std::uint64_t set : working_sets())
        if (set / 2 >= most_) goes_on = goes_on && time({.part = Part::exchange, .bytes = set / 2});
      goes_on = goes_on && time(kAfter);
      if (!goes_on) return end_of_pass_.arrive_and_drop();
      if (rank == 0) count_pass();
      end_of_pass_.arrive_and_wait();
      is_enough = is_enough_;
    }
  }

  // Rank 0, behind whom the other waits.
  void count_pass() {
    ++passes_;
    const std::vector<double>& before = times_[kBefore];
    const std::vector<double>& after = times_[kAfter];
    std::vector<Mark> marks;
    for (std::size_t pass = 0; pass < passes_; ++pass) marks.push_back({before[pass], after[pass]});
    steadiness_ = steadiness_of(marks);
    const bool has_all = steadiness_.is_steady && steadiness_.passes.size() >= thoroughness_.passes;
    is_enough_ = has_all || passes_ >= std::max(thoroughness_.passes, thoroughness_.most_passes);
  }

  [[nodiscard]] static Schedule schedule_of(const Cell& cell) {
    if (cell.part == Part::steps) return own_steps(kStepsOfCall);
    return ping_pong(cell.hop, cell.part == Part::hops || cell.part == Part::mark ? kHopsOfCall : 0);
  }
  // A number of its own for each schedule, under which its plan is kept.
  [[nodiscard]] static std::uint32_t number_of(const Cell& cell) {
    const Part part = cell.part == Part::exchange ? Part::none : cell.part == Part::mark ? Part::hops : cell.part;
    return static_cast<std::uint32_t>(part) * 4 + static_cast<std::uint32_t>(cell.hop);
  }

  // Both ranks make equally many calls. Whether all went well.
  bool measure(Communicator& communicator, const Cell& cell, const float* input, float* output) {
    const Schedule schedule = schedule_of(cell);
    const auto call = [&] {
      const Status status = communicator.run_by(schedule, number_of(cell),
                                                {.input = input, .output = output, .count = cell.bytes / sizeof(float)},
                                                WalkerChoice::automatic);
      if (status.ok()) return true;
      const std::scoped_lock lock(mutex_);
      if (failed_.ok()) failed_ = status;
      return false;
    };
    // About what it will take; both must come to the same.
    const bool has_hops = cell.part == Part::hops || cell.part == Part::mark;
    const double hops = has_hops ? kHopsOfCall + 1 : cell.part == Part::steps ? 4 : 1;
    const double expected = hops * (250 + 0.15 * static_cast<double>(cell.bytes));
    const auto at_once = static_cast<std::uint64_t>(std::max(1.0, 20'000 / expected));
    const auto blocks = static_cast<std::uint64_t>(
        std::max(3.0, static_cast<double>(thoroughness_.block_ns) / (expected * static_cast<double>(at_once))));
    for (std::uint64_t i = 0; i < at_once; ++i)
      if (!call()) return false;
    std::vector<double> taken;
    for (std::uint64_t block = 0; block < blocks; ++block) {
      const auto begin = std::chrono::steady_clock::now();
      for (std::uint64_t i = 0; i < at_once; ++i)
        if (!call()) return false;
      const std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - begin;
      taken.push_back(time.count() / static_cast<double>(at_once));
    }
    if (communicator.rank() == 0) times_[cell].push_back(median_of(std::move(taken)));
    return true;
  }

  // What marks a pass, at its beginning and at its end.
  static constexpr Cell kBefore{.part = Part::hops, .bytes = kShortest};
  static constexpr Cell kAfter{.part = Part::mark, .bytes = kShortest};

  const Settings& settings_;
  const Thoroughness& thoroughness_;
  Log& log_;
  std::shared_ptr<shm::Region> region_;
  const std::vector<int>& cores_;
  Extent extent_;
  std::uint64_t most_;
  std::map<Cell, std::vector<double>> times_;  // by pass; rank 0's, as is all until the barrier
  std::uint32_t passes_ = 0;
  Steadiness steadiness_;
  bool is_enough_ = false;
  std::barrier<> end_of_pass_{2};
  std::mutex mutex_;
  Status failed_;  // guarded by the mutex while threads run
};

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  return fmt::format("{:04}-{:02}-{:02}", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday);
}

// Each call begins with one hop and ends with another half of one, which is what a call without hops is.
HopTimes hop_times(const PingPong& ping_pong, std::uint64_t bytes) {
  const auto of = [&](Hop hop) {
    const double all = ping_pong.time_of({.part = Part::hops, .hop = hop, .bytes = bytes});
    const double none = ping_pong.time_of({.part = Part::none, .hop = hop, .bytes = bytes});
    return std::max(0.0, all - none) / kHopsOfCall;
  };
  return {bytes, of(Hop::copy), of(Hop::fold), of(Hop::forward), of(Hop::fold_forward)};
}

using Processors = std::vector<int>;

// A pair of processors for each distance that the machine has, the nearest first.
std::vector<std::pair<Apart, Processors>> pairs_of(const Topology& topology) {
  std::vector<std::pair<Apart, Processors>> pairs;
  for (const Apart distance : {Apart::not_at_all, Apart::caches, Apart::packages})
    if (const auto pair = topology.pair(distance))
      pairs.emplace_back(distance, Processors{pair->first.processor, pair->second.processor});
  return pairs;
}

void add_messages(const PingPong& ping_pong, Measurements& measured) {
  measured.passes = ping_pong.passes();
  measured.steadiness = ping_pong.steadiness();
  for (const std::uint64_t bytes : ping_pong.sizes()) measured.hops.push_back(hop_times(ping_pong, bytes));
  measured.step = ping_pong.time_of({.part = Part::steps, .bytes = kShortest}) / kStepsOfCall;
  const double exchange = ping_pong.time_of({.part = Part::none, .hop = Hop::copy, .bytes = kShortest});
  measured.call = std::max(0.0, exchange - measured.hops.front().copy);
}

void add_own_memory(const PingPong& ping_pong, const Settings& settings, const Thoroughness& thoroughness,
                    const Processors& cores, Measurements& measured) {
  const std::uint64_t stream_min = stream_min_of(settings.profile.profile->for_caches(settings.caches), settings.caches,
                                                 {.num_cores = 2, .num_ranks = 2}, OutputUse::kept);
  for (const std::uint64_t set : ping_pong.working_sets()) {
    const bool streams = set / 3 >= stream_min;
    const double call = ping_pong.time_of({.part = Part::exchange, .bytes = set / 2});
    const double rounds = static_cast<double>(set) / 2 / static_cast<double>(ping_pong.longest());
    measured.own.push_back({set, measure_own_memory(cores, set, streams, thoroughness),
                            call > 0 ? std::max(0.0, call - measured.call) / rounds : 0});
  }
}

}  // namespace

Status can_measure() {
  const std::size_t cores = topology_of_machine().cores.size();
  if (cores >= 2) return {};
  return {Code::unsupported,
          fmt::format("this process may run on {} core only, and ping-pong needs two (see taskset, sched_setaffinity)",
                      cores)};
}

Result<Measurements> measure(const Variables& variables, const Thoroughness& thoroughness) {
  TUTTI_TRY(can_measure());
  const Topology topology = topology_of_machine();
  Measurements measured;
  measured.machine = machine_in_words();
  measured.date = today();
  measured.places = topology.cores;
  const std::vector<std::pair<Apart, Processors>> pairs = pairs_of(topology);
  const Processors& cores = pairs.front().second;
  measured.near = pairs.front().first;
  // Those that are as near stand first, so that few ranks are on these.
  const CorePlace first = topology.pair(measured.near)->first;
  std::stable_partition(measured.places.begin(), measured.places.end(),
                        [&](const CorePlace& place) { return apart(first, place) <= measured.near; });
  measured.core_switch = measure_core_switch(cores[0], thoroughness);

  Settings settings = Settings::from(variables);
  settings.region.message_slot = std::min(settings.region.message_slot, kMostSlot);
  measured.slots = settings.region.message_depth;
  measured.slot_bytes = settings.region.message_slot;
  TUTTI_TRY_ASSIGN(const std::unique_ptr<Log> log, Log::create(variables, LogWriter::of_this_process()));
  const auto ping_pong_of = [&](const Processors& of, Extent extent) -> Result<std::unique_ptr<PingPong>> {
    TUTTI_TRY_ASSIGN(std::unique_ptr<shm::Region> region, shm::Region::create(settings.region_for(2)));
    auto ping_pong = std::make_unique<PingPong>(settings, thoroughness, *log,
                                                std::shared_ptr<shm::Region>(std::move(region)), of, extent);
    TUTTI_TRY(ping_pong->run());
    return ping_pong;
  };
  TUTTI_TRY_ASSIGN(const std::unique_ptr<PingPong> near, ping_pong_of(cores, Extent::all));
  add_messages(*near, measured);
  add_own_memory(*near, settings, thoroughness, cores, measured);
  for (std::size_t each = 1; each < pairs.size(); ++each) {
    TUTTI_TRY_ASSIGN(const std::unique_ptr<PingPong> far, ping_pong_of(pairs[each].second, Extent::ends));
    measured.farther.push_back({pairs[each].first, hop_times(*far, kShortest).copy,
                                hop_times(*far, far->longest()).copy,
                                far->steadiness().is_steady && far->steadiness().passes.size() == far->passes()});
  }
  return measured;
}

}  // namespace tutti::calibrate
