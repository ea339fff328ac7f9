// SPDX-License-Identifier: Apache-2.0
// Ping-pong and swaps by two ranks that are threads, over a region of their own.
#include "calibrate/measure.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <barrier>
#include <chrono>
#include <ctime>
#include <map>
#include <mutex>
#include <new>
#include <span>
#include <system_error>
#include <thread>

#include <fmt/format.h>

#include "base/log.hpp"
#include "base/relax.hpp"
#include "calibrate/ping_pong.hpp"
#include "data/kernel.hpp"
#include "runtime/communicator/communicator.hpp"
#include "runtime/selection/machine_profile.hpp"

namespace tutti::calibrate {

namespace {

constexpr std::uint32_t kHopsOfCall = 8;
constexpr std::uint32_t kStepsOfCall = 32;
constexpr std::uint64_t kWarmingBytes = 8 << 20;
constexpr std::uint64_t kMostUntimed = 64;
constexpr double kLeastCalls = 7;
constexpr std::array<std::uint32_t, 3> kFurther = {0, 1, 3};  // swaps behind the first
constexpr std::uint64_t kShortest = 8;
constexpr std::size_t kApart = 528;           // elements
constexpr std::uint64_t kMostSlot = 1 << 20;  // longer messages take as long a byte
constexpr std::uint64_t kLeastWorkingSet = 32 << 10;

enum class Extent : std::uint8_t { all, ends };  // ends: copying hops of the shortest and the longest message
// What the ranks measure, each number the same on both; rank 0 keeps the times.
enum class Part : std::uint8_t { hops, none, steps, exchange, mark, swap, small, shot };
constexpr std::uint32_t kFirstSwap = static_cast<std::uint32_t>(Part::steps) * 4 + 1;  // behind those by part and hop
constexpr std::uint32_t kFirstShot = kFirstSwap + 2 * (kFurther.back() + 1);
struct Cell {
  Part part = Part::hops;
  Hop hop = Hop::copy;
  Again again = Again::fold;
  Shot shot = Shot::fold;
  std::uint32_t further = 0;
  std::uint64_t bytes = 0;                        // of the rank's input, as of its output
  auto operator<=>(const Cell&) const = default;  // NOLINT(modernize-use-nullptr): its 0 is no pointer
};

std::int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

struct Span {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  bool is_late = false;
};

// Instants at which both ranks begin, as those of a benchmark do: rank 0 says when, once rank 1 is there.
class Starts {
 public:
  static constexpr std::int64_t kAhead = 600;  // nanoseconds: time for both to learn of it

  // Whether this rank was there in time. Both call it equally often; once one has given up, nobody waits.
  bool await(int rank) {
    const std::uint64_t number = ++numbers_[rank].value;
    if (rank == 0) {
      while (arrived_.load(std::memory_order_acquire) < number && !is_given_up_) relax();
      instant_ = now() + kAhead;
      announced_.store(number, std::memory_order_release);
    } else {
      arrived_.store(number, std::memory_order_release);
      while (announced_.load(std::memory_order_acquire) < number && !is_given_up_) relax();
    }
    if (is_given_up_) return false;
    const std::int64_t instant = instant_;
    if (now() >= instant) return false;
    while (now() < instant) relax();
    return true;
  }
  void give_up() { is_given_up_ = true; }
  [[nodiscard]] bool is_given_up() const { return is_given_up_; }

 private:
  struct alignas(64) Number {
    std::uint64_t value = 0;
  };
  std::array<Number, 2> numbers_;                         // each rank's own
  alignas(64) std::atomic<std::uint64_t> arrived_ = 0;    // rank 1's
  alignas(64) std::atomic<std::uint64_t> announced_ = 0;  // rank 0's
  std::int64_t instant_ = 0;                              // of the last that is announced
  std::atomic<bool> is_given_up_ = false;
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
      try {
        for (std::uint32_t rank = 0; rank < 2; ++rank) threads.emplace_back([this, rank] { be(rank); });
      } catch (const std::system_error& error) {
        note({Code::system, fmt::format("cannot start a thread: {}", error.what())});
        starts_.give_up();  // the other would wait for it
      }
    }
    return failed_;
  }

  // The time of a call, in the passes that count.
  [[nodiscard]] double time_of(const Cell& cell) const {
    const auto found = times_.find(cell);
    if (found == times_.end() || found->second.size() < passes_) return 0;
    std::vector<double> times;
    for (const std::size_t pass : steadiness_.passes) times.push_back(found->second[pass]);
    return median_of(std::move(times));
  }
  [[nodiscard]] const Steadiness& steadiness() const { return steadiness_; }
  [[nodiscard]] std::uint32_t passes() const { return passes_; }
  [[nodiscard]] std::uint64_t longest() const { return most_; }
  [[nodiscard]] std::uint64_t small_end() const { return small_end_; }
  // What it is about, in order of size.
  [[nodiscard]] std::vector<std::uint64_t> sizes() const {
    std::vector<std::uint64_t> sizes;
    if (extent_ == Extent::ends) return {kShortest, most_};
    for (std::uint64_t bytes = kShortest; bytes < most_; bytes *= 2) sizes.push_back(bytes);
    sizes.push_back(most_);
    return sizes;
  }
  // Of calls in symmetric memory, which take no slots.
  [[nodiscard]] std::vector<std::uint64_t> shot_sizes() const {
    std::vector<std::uint64_t> all = sizes();
    while (all.back() * 2 <= thoroughness_.most_working_set / 4) all.push_back(all.back() * 2);
    return all;
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
    const std::uint64_t room = std::max(most_, thoroughness_.most_working_set / 2);
    Zeroes input;
    Zeroes output;
    try {
      input = make_zeroes(room / sizeof(float));
      // Parts of a page apart, so that what is read does not agree with what is written in the low bits of its address.
      output = make_zeroes(room / sizeof(float) + kApart);
    } catch (const std::bad_alloc&) {
      note({Code::system, fmt::format("there is no memory for buffers of {} bytes", room)});
      starts_.give_up();
    }
    // In a communicator each waits for the other.
    starts_.await(static_cast<int>(rank));
    if (starts_.is_given_up()) return end_of_pass_.arrive_and_drop();
    const std::unique_ptr<Communicator> communicator =
        Communicator::over(region_, static_cast<int>(rank), settings_, log_);
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
      for (const std::uint64_t bytes : sizes()) {
        if (extent_ == Extent::ends) break;
        for (const Again again : {Again::fold, Again::copy})
          for (const std::uint32_t further : kFurther)
            goes_on = goes_on && time({.part = Part::swap, .again = again, .further = further, .bytes = bytes});
        if (rank == 0) small_end_ = communicator->small_end();
        if (bytes < communicator->small_end()) goes_on = goes_on && time({.part = Part::small, .bytes = bytes});
      }
      goes_on = goes_on && measure_shots(*communicator);
      for (const std::uint64_t set : working_sets())
        if (set / 2 >= most_) goes_on = goes_on && time({.part = Part::exchange, .bytes = set / 2});
      goes_on = goes_on && time(kAfter);
      if (!goes_on) return end_of_pass_.arrive_and_drop();
      if (rank == 0) count_pass();
      end_of_pass_.arrive_and_wait();
      is_enough = is_enough_;
    }
  }

  // In symmetric memory, freed afterwards: while there is any, all other calls look up their buffers in it.
  bool measure_shots(Communicator& communicator) {
    bool& lacks_memory = lacks_memory_.at(communicator.rank());
    if (extent_ == Extent::ends || lacks_memory) return true;
    const std::vector<std::uint64_t> all_sizes = shot_sizes();
    const std::uint64_t most = all_sizes.back();
    const Result<void*> part = communicator.allocate(2 * most + kApart * sizeof(float));
    // Then it is so on both ranks, and the fabric has no costs of such calls.
    lacks_memory = !part.ok();
    if (lacks_memory) return true;
    auto* const input = static_cast<float*>(*part);
    float* const output = input + most / sizeof(float) + kApart;
    bool goes_on = true;
    for (const std::uint64_t bytes : all_sizes)
      for (const Shot shot : {Shot::fold, Shot::store})
        goes_on = goes_on && measure(communicator, {.part = Part::shot, .shot = shot, .bytes = bytes}, input, output);
    return goes_on && (note(communicator.free(*part)) || give_up());
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
    if (cell.part == Part::swap) return swap(cell.again, cell.further);
    if (cell.part == Part::shot) return shot(cell.shot);
    return ping_pong(cell.hop, cell.part == Part::hops || cell.part == Part::mark ? kHopsOfCall : 0);
  }
  // A number of its own for each schedule, under which its plan is kept.
  [[nodiscard]] static std::uint32_t number_of(const Cell& cell) {
    const Part part = cell.part == Part::exchange ? Part::none : cell.part == Part::mark ? Part::hops : cell.part;
    if (part == Part::swap) return kFirstSwap + 2 * cell.further + static_cast<std::uint32_t>(cell.again);
    if (part == Part::shot) return kFirstShot + static_cast<std::uint32_t>(cell.shot);
    return static_cast<std::uint32_t>(part) * 4 + static_cast<std::uint32_t>(cell.hop);
  }

  // Both ranks make equally many calls. Whether all went well.
  bool measure(Communicator& communicator, const Cell& cell, const float* input, float* output) {
    const Schedule schedule = schedule_of(cell);
    const auto call = [&] {
      const Invocation asked{.input = input, .output = output, .count = cell.bytes / sizeof(float)};
      const Status status = cell.part == Part::small
                                ? communicator.all_reduce(input, output, asked.count, asked.type, asked.op)
                                : communicator.run_by(schedule, number_of(cell), asked, WalkerChoice::automatic);
      return note(status);
    };
    // About what it will take; both must come to the same.
    const bool has_hops = cell.part == Part::hops || cell.part == Part::mark;
    const double hops = has_hops                   ? kHopsOfCall + 1
                        : cell.part == Part::steps ? 4
                        : cell.part == Part::swap  ? 1 + cell.further
                        : cell.part == Part::shot  ? 2
                                                   : 1;
    const double expected = hops * (250 + 0.15 * static_cast<double>(cell.bytes));
    // These fill the caches, slots included, with what they hold after many such calls.
    const std::uint64_t untimed = std::clamp<std::uint64_t>(kWarmingBytes / cell.bytes, 1, kMostUntimed);
    const auto calls = static_cast<std::uint64_t>(
        std::max(kLeastCalls, static_cast<double>(thoroughness_.block_ns) / (expected + Starts::kAhead)));
    for (std::uint64_t i = 0; i < untimed; ++i)
      if (!call()) return give_up();
    const int rank = communicator.rank();
    std::vector<Span>& spans = spans_[rank];
    spans.clear();
    for (std::uint64_t i = 0; i < calls; ++i) {
      Span& span = spans.emplace_back();
      span.is_late = !starts_.await(rank);
      span.begin = now();
      if (!call()) return give_up();
      span.end = now();
    }
    starts_.await(rank);  // the other's times are there,
    if (starts_.is_given_up()) return false;
    if (rank == 0) times_[cell].push_back(median_of(times_of_both()));
    starts_.await(rank);  // and have been read
    return true;
  }

  // Whether that went well.
  bool note(const Status& status) {
    if (status.ok()) return true;
    const std::scoped_lock lock(mutex_);
    if (failed_.ok()) failed_ = status;
    return false;
  }
  bool give_up() {
    starts_.give_up();
    return false;
  }

  // Of calls that both began in time, from the first begin to the last end, as benchmarks count; if there are none, of
  // all.
  [[nodiscard]] std::vector<double> times_of_both() const {
    std::vector<double> in_time;
    std::vector<double> all;
    for (std::size_t i = 0; i < spans_[0].size(); ++i) {
      const Span& one = spans_[0][i];
      const Span& other = spans_[1][i];
      all.push_back(static_cast<double>(std::max(one.end, other.end) - std::min(one.begin, other.begin)));
      if (!one.is_late && !other.is_late) in_time.push_back(all.back());
    }
    return in_time.empty() ? all : in_time;
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
  Starts starts_;
  std::array<std::vector<Span>, 2> spans_;     // by rank: of the cell that is being measured
  std::uint64_t small_end_ = 0;                // rank 0's
  std::array<bool, 2> lacks_memory_ = {};      // by rank: symmetric memory
  std::map<Cell, std::vector<double>> times_;  // by pass; rank 0's, as is all until the barrier
  std::uint32_t passes_ = 0;
  Steadiness steadiness_;
  bool is_enough_ = false;
  std::barrier<> end_of_pass_{2};
  std::mutex mutex_;
  Status failed_;  // guarded by the mutex while threads run
};

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
  for (const std::uint64_t bytes : ping_pong.sizes()) {
    const auto call_of = [&](Again again, std::uint32_t further) {
      return ping_pong.time_of({.part = Part::swap, .again = again, .further = further, .bytes = bytes});
    };
    const auto each_of = [&](Again again) {
      return std::max(0.0, call_of(again, kFurther.back()) - call_of(again, 1)) / (kFurther.back() - 1);
    };
    measured.swaps.push_back(
        {bytes, call_of(Again::fold, 0), call_of(Again::fold, 1), each_of(Again::fold), each_of(Again::copy)});
    const double small = ping_pong.time_of({.part = Part::small, .bytes = bytes});
    if (small > 0) measured.small.push_back({bytes, small});
  }
  for (const std::uint64_t bytes : ping_pong.shot_sizes()) {
    const auto shot_of = [&](Shot shot) {
      return ping_pong.time_of({.part = Part::shot, .shot = shot, .bytes = bytes});
    };
    const ShotTimes times = {bytes, shot_of(Shot::fold), shot_of(Shot::store)};
    if (times.fold > 0 && times.store > 0) measured.shots.push_back(times);
  }
  measured.small_end = ping_pong.small_end();
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

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  return fmt::format("{:04}-{:02}-{:02}", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday);
}

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
  // Opens the small path, whatever the profile's rules say. Calibration makes no other all-reduce.
  settings.forced_of(Collective::all_reduce) = {.name = std::string(Communicator::kSmallAlgorithm), .file = {}};
  measured.slots = settings.region.message_depth;
  measured.slot_bytes = settings.region.message_slot;
  TUTTI_TRY_ASSIGN(const std::unique_ptr<Log> log, Log::create(variables, LogWriter::of_this_process()));
  const auto ping_pong_of = [&](const Processors& of, Extent extent) -> Result<std::unique_ptr<PingPong>> {
    shm::RegionShape shape = settings.region_for(2);
    // Each swap of a call has a slot of its own.
    shape.staging_slots = std::max(shape.staging_slots, 1 + kFurther.back());
    TUTTI_TRY_ASSIGN(std::unique_ptr<shm::Region> region, shm::Region::create(shape));
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
