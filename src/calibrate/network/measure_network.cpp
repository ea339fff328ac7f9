// SPDX-License-Identifier: Apache-2.0
#include "calibrate/network/measure_network.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <functional>
#include <span>
#include <thread>
#include <vector>

#include "calibrate/measure.hpp"
#include "calibrate/network/greatest.hpp"
#include "runtime/communicator/over_ofi.hpp"
#include "runtime/progress/pairs.hpp"

namespace tutti::calibrate {

namespace {

constexpr std::uint64_t kWord = 8;
constexpr std::uint64_t kLeastStream = std::uint64_t{64} << 10;
constexpr double kStreamRoundTrips = 20;  // a stream lasts so much longer than its round trip
constexpr double kMostSeconds = 4;        // whatever a round trip takes
constexpr int kStreams = 5;
constexpr int kBatches = 9;
constexpr std::uint32_t kBatch = 4;  // messages, for which there is room at once
constexpr std::uint64_t kFoldBytes = std::uint64_t{4} << 20;
constexpr std::array<std::uint64_t, 3> kStepSizes = {kWord, 4 << 10, 32 << 10};  // and a slot

class Prober {
 public:
  Prober(Communicator& communicator, const NetworkEffort& effort, BrokenPair& broken)
      : communicator_(communicator),
        effort_(effort),
        broken_(broken),
        rank_(communicator.rank()),
        out_(make_zeroes(effort.most_bytes / sizeof(float))),
        in_(make_zeroes(effort.most_bytes / sizeof(float))) {
    const std::vector<std::uint32_t>& host_of = communicator.hosts().host_of;
    for (std::uint32_t rank = 0; rank < host_of.size(); ++rank) {
      if (host_of[rank] == first_.size()) {
        first_.push_back(rank);
        measured_.hosts.push_back({.ranks = 0});
      }
      ++measured_.hosts[host_of[rank]].ranks;
    }
    measured_.pairs.resize(first_.size() * first_.size());
    const transport::EndpointShape shape =
        shape_between_hosts(communicator.settings().region_for(communicator.num_ranks(), 1));
    measured_.slots = shape.depth;
    measured_.slot_bytes = shape.slot;
    slot_ = std::clamp<std::uint64_t>(shape.slot, 2 * kStepSizes.back(), effort.most_bytes);
  }

  [[nodiscard]] Result<NetworkMeasurements> measure() {
    if (first_.size() < 2) return Status(Code::invalid_usage, "all ranks are on one host");
    TUTTI_TRY(measure_pairs());
    TUTTI_TRY(measure_hosts());
    TUTTI_TRY(share());
    TUTTI_TRY(measure_all());
    TUTTI_TRY(share());
    return std::move(measured_);
  }

 private:
  [[nodiscard]] static double now() {  // nanoseconds
    return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now().time_since_epoch()).count();
  }

  Status send(std::uint32_t peer, std::uint64_t bytes) { return communicator_.transfer(sent(peer, bytes)); }
  Status receive(std::uint32_t peer, std::uint64_t bytes) { return communicator_.transfer(received(peer, bytes)); }
  [[nodiscard]] Transfer sent(std::uint32_t peer, std::uint64_t bytes) const {
    return {
        .direction = Transfer::Direction::send, .peer = peer, .data = bytes_of(out_), .count = bytes, .type = Type::u8};
  }
  [[nodiscard]] Transfer received(std::uint32_t peer, std::uint64_t bytes) const {
    return {.direction = Transfer::Direction::receive,
            .peer = peer,
            .data = bytes_of(in_),
            .count = bytes,
            .type = Type::u8};
  }
  [[nodiscard]] static std::byte* bytes_of(const std::unique_ptr<float[], Freed>& memory) {
    return reinterpret_cast<std::byte*>(memory.get());
  }
  // What the one in charge decides for both.
  Status tell(std::uint32_t peer, std::uint64_t number) {
    Transfer transfer = sent(peer, sizeof number);
    transfer.data = reinterpret_cast<std::byte*>(&number);
    return communicator_.transfer(transfer);
  }
  Result<std::uint64_t> hear(std::uint32_t peer) {
    std::uint64_t number = 0;
    Transfer transfer = received(peer, sizeof number);
    transfer.data = reinterpret_cast<std::byte*>(&number);
    TUTTI_TRY(communicator_.transfer(transfer));
    return number;
  }

  Status meet() { return communicator_.run({.collective = Collective::barrier}); }

  // Numbers that some have measured, and others not.
  Status share() {
    TUTTI_TRY_ASSIGN(const std::vector<double> all, greatest_of(flat(), communicator_));
    unflatten(all);
    return {};
  }
  [[nodiscard]] std::vector<double*> places() {
    std::vector<double*> found = {&measured_.all};
    for (HostTimes& host : measured_.hosts)
      found.insert(found.end(),
                   {&host.out, &host.in, &host.send, &host.receive, &host.fold, &host.near_hop, &host.near_rate});
    for (PairTimes& pair : measured_.pairs)
      found.insert(found.end(), {&pair.half_round_trip, &pair.one_way, &pair.both_ways});
    for (StepTime& step : measured_.steps) found.push_back(&step.time);
    return found;
  }
  [[nodiscard]] std::vector<double> flat() {
    std::vector<double> values;
    for (const double* const place : places()) values.push_back(*place);
    return values;
  }
  void unflatten(const std::vector<double>& values) {
    const std::vector<double*> found = places();
    for (std::size_t each = 0; each < found.size(); ++each) *found[each] = values[each];
  }

  // How long is taken for a number, in nanoseconds.
  [[nodiscard]] double patience(double round_trip) const {
    return std::min(std::max(effort_.seconds * 1e9, kStreamRoundTrips * round_trip), kMostSeconds * 1e9);
  }

  // --- two ranks, of which `here` is in charge and has the answer

  Result<double> round_trips(std::uint32_t here, std::uint32_t there) {
    const auto one = [&](bool leads) -> Status {
      const std::uint32_t peer = leads ? there : here;
      if (leads) TUTTI_TRY(send(peer, kWord));
      TUTTI_TRY(receive(peer, kWord));
      return leads ? Status() : send(peer, kWord);
    };
    const bool leads = rank_ == here;
    for (int i = 0; i < 3; ++i) TUTTI_TRY(one(leads));
    std::uint64_t times = 0;
    if (leads) {
      const double begin = now();
      TUTTI_TRY(one(true));
      times = static_cast<std::uint64_t>(std::clamp(effort_.seconds * 1e9 / (now() - begin), 7.0, 2000.0));
      TUTTI_TRY(tell(there, times));
    } else {
      TUTTI_TRY(one(false));
      TUTTI_TRY_ASSIGN(times, hear(here));
    }
    std::vector<double> taken;
    for (std::uint64_t i = 0; i < times; ++i) {
      const double begin = now();
      TUTTI_TRY(one(leads));
      taken.push_back(now() - begin);
    }
    return median_of(std::move(taken));
  }

  // Returns a rate. The one in charge announces the bytes of each stream; 0 ends the measurement.
  using Go = std::function<Status(bool leads, std::uint64_t bytes)>;
  Result<double> stream(std::span<const std::uint32_t> others, std::uint32_t here, double round_trip, const Go& go) {
    if (rank_ != here) {
      while (true) {
        TUTTI_TRY_ASSIGN(const std::uint64_t bytes, hear(here));
        if (bytes == 0) return 0.0;
        TUTTI_TRY(go(false, std::min(bytes, effort_.most_bytes)));
      }
    }
    std::vector<double> rates;
    for (std::uint64_t bytes = std::min(kLeastStream, effort_.most_bytes); rates.size() < kStreams;) {
      const double begin = now();
      for (const std::uint32_t other : others) TUTTI_TRY(tell(other, bytes));
      TUTTI_TRY(go(true, bytes));
      const double taken = now() - begin;
      if (taken >= patience(round_trip) || bytes == effort_.most_bytes) {
        rates.push_back(static_cast<double>(bytes) / std::max(taken - round_trip, taken / 10));
        if (taken > kMostSeconds * 1e9) break;  // so slow a way is not measured again
      } else {
        bytes = std::min(2 * bytes, effort_.most_bytes);
      }
    }
    for (const std::uint32_t other : others) TUTTI_TRY(tell(other, 0));
    return median_of(std::move(rates));
  }

  Status pass_on(std::uint32_t here, std::uint32_t there, bool leads, std::uint64_t bytes) {
    if (leads) {
      TUTTI_TRY(send(there, bytes));
      return receive(there, kWord);
    }
    TUTTI_TRY(receive(here, bytes));
    return send(here, kWord);
  }
  Status swap_bytes(std::uint32_t here, std::uint32_t there, bool leads, std::uint64_t bytes) {
    const std::uint32_t peer = leads ? there : here;
    return communicator_.exchange(sent(peer, bytes), received(peer, bytes));
  }

  // --- stages

  [[nodiscard]] bool is_of(std::uint32_t one, std::uint32_t other) const { return rank_ == one || rank_ == other; }

  Status measure_pairs() {
    for (std::size_t from = 0; from < first_.size(); ++from) {
      for (std::size_t to = 0; to < first_.size(); ++to) {
        if (from == to) continue;
        const std::uint32_t here = first_[from];
        const std::uint32_t there = first_[to];
        if (is_of(here, there)) {
          broken_ = {static_cast<int>(here), static_cast<int>(there)};
          TUTTI_TRY(measure_pair(here, there, from, to));
          broken_ = {};
        }
        TUTTI_TRY(meet());
      }
    }
    return {};
  }
  Status measure_pair(std::uint32_t here, std::uint32_t there, std::size_t from, std::size_t to) {
    PairTimes found;
    TUTTI_TRY_ASSIGN(const double round_trip, round_trips(here, there));
    const std::array others = {there};
    TUTTI_TRY_ASSIGN(found.one_way, stream(others, here, round_trip, [&](bool leads, std::uint64_t bytes) {
                       return pass_on(here, there, leads, bytes);
                     }));
    // Both directions are the same experiment.
    if (from < to) {
      TUTTI_TRY_ASSIGN(found.both_ways, stream(others, here, round_trip, [&](bool leads, std::uint64_t bytes) {
                         return swap_bytes(here, there, leads, bytes);
                       }));
    }
    if (rank_ != here) return {};
    found.half_round_trip = round_trip / 2;
    measured_.pair(from, to) = found;
    if (from < to) measured_.pair(to, from).both_ways = found.both_ways;
    return {};
  }

  Status measure_hosts() {
    for (std::size_t host = 0; host < first_.size(); ++host) {
      TUTTI_TRY(measure_host(host));
      TUTTI_TRY(meet());
    }
    return {};
  }
  Status measure_host(std::size_t host) {
    const std::uint32_t first = first_[host];
    HostTimes& times = measured_.hosts[host];
    if (times.ranks > 1) {
      const std::uint32_t second = communicator_.hosts().ranks_near(first)[1];
      if (is_of(first, second)) TUTTI_TRY(measure_near(first, second, times));
    }
    const std::uint32_t next = first_[(host + 1) % first_.size()];
    if (is_of(first, next)) TUTTI_TRY(measure_overheads(first, next, times));
    if (rank_ == first) times.fold = measure_own_memory({usable_cores().front()}, kFoldBytes, false, {});
    if (first_.size() < 3 || std::find(first_.begin(), first_.end(), rank_) == first_.end()) return {};
    std::vector<std::uint32_t> others;
    for (const std::uint32_t each : first_)
      if (each != first) others.push_back(each);
    const std::uint64_t shares = others.size();
    const auto part_of = [&](std::uint64_t bytes) { return bytes / shares; };
    const double round_trip = rank_ == first ? 2 * slowest_from(host) : 0;
    TUTTI_TRY_ASSIGN(times.out, stream(others, first, round_trip, [&](bool leads, std::uint64_t bytes) -> Status {
                       if (!leads) return pass_on(first, rank_, false, part_of(bytes));
                       TUTTI_TRY(at_once(others, part_of(bytes), true));
                       return at_once(others, kWord, false);
                     }));
    TUTTI_TRY_ASSIGN(times.in, stream(others, first, round_trip, [&](bool leads, std::uint64_t bytes) {
                       return leads ? at_once(others, part_of(bytes), false) : send(first, part_of(bytes));
                     }));
    if (rank_ != first) times.out = times.in = 0;
    return {};
  }
  [[nodiscard]] double slowest_from(std::size_t host) const {
    double slowest = 0;
    for (std::size_t to = 0; to < first_.size(); ++to)
      slowest = std::max(slowest, measured_.pair(host, to).half_round_trip);
    return slowest;
  }
  // Sends to all, or receives from all.
  Status at_once(const std::vector<std::uint32_t>& others, std::uint64_t bytes, bool sends) {
    std::vector<Operation*> begun;
    Status failed;
    for (const std::uint32_t other : others) {
      Result<Operation*> made = communicator_.prepare(sends ? sent(other, bytes) : received(other, bytes), false);
      failed = made.ok() ? communicator_.start(**made) : made.status();
      if (made.ok()) begun.push_back(*made);
      if (!failed.ok()) break;
    }
    for (Operation* const operation : begun) {
      if (failed.ok()) failed = communicator_.wait(*operation);
      communicator_.release(*operation);
    }
    return failed;
  }

  Status measure_near(std::uint32_t first, std::uint32_t second, HostTimes& times) {
    TUTTI_TRY_ASSIGN(const double round_trip, round_trips(first, second));
    const std::array others = {second};
    TUTTI_TRY_ASSIGN(const double rate, stream(others, first, round_trip, [&](bool leads, std::uint64_t bytes) {
                       return pass_on(first, second, leads, bytes);
                     }));
    if (rank_ != first) return {};
    times.near_hop = round_trip / 2;
    times.near_rate = rate;
    return {};
  }

  // Sends messages for which there is room. The receiver first sleeps, so that all have arrived when it begins. If one
  // is still in flight then, the batch measures the network too; so the quickest batch counts.
  Status measure_overheads(std::uint32_t sender, std::uint32_t receiver, HostTimes& times) {
    std::vector<double> taken;
    const bool sends = rank_ == sender;
    double round_trip = 0;
    for (int batch = 0; batch < kBatches; ++batch) {
      if (sends) {
        const double asked = now();
        TUTTI_TRY(tell(receiver, static_cast<std::uint64_t>(round_trip)));
        TUTTI_TRY(receive(receiver, kWord));
        round_trip = now() - asked;
      } else {
        TUTTI_TRY_ASSIGN(const std::uint64_t late, hear(sender));
        TUTTI_TRY(send(sender, kWord));
        std::this_thread::sleep_for(std::chrono::nanoseconds(std::min<std::uint64_t>(2 * late, 1'000'000'000)));
      }
      const double begin = now();
      for (std::uint32_t i = 0; i < kBatch; ++i) TUTTI_TRY(sends ? send(receiver, kWord) : receive(sender, kWord));
      if (batch > 0) taken.push_back((now() - begin) / kBatch);
      TUTTI_TRY(sends ? receive(receiver, kWord) : send(sender, kWord));
    }
    if (sends) {
      times.send = *std::min_element(taken.begin(), taken.end());
    } else {
      const auto place = std::find(first_.begin(), first_.end(), rank_) - first_.begin();
      measured_.hosts[static_cast<std::size_t>(place)].receive = *std::min_element(taken.begin(), taken.end());
    }
    return {};
  }

  // All hosts at once, each to a neighbour, and each to one that is far in the list.
  Status measure_all() {
    for (const std::uint64_t bytes : kStepSizes) measured_.steps.push_back({bytes, 0});
    measured_.steps.push_back({slot_, 0});
    const auto self = std::find(first_.begin(), first_.end(), rank_);
    double slowest = 0;
    double least_rate = 0;
    for (std::size_t from = 0; from < first_.size(); ++from) {
      slowest = std::max(slowest, slowest_from(from));
      for (std::size_t to = 0; to < first_.size(); ++to) {
        const double rate = measured_.pair(from, to).both_ways;
        if (from != to && (least_rate == 0 || rate < least_rate)) least_rate = rate;
      }
    }
    const std::size_t host = static_cast<std::size_t>(self - first_.begin());
    double rate = 0;
    std::vector<std::size_t> shifts = {1};
    if (first_.size() > 3) shifts.push_back(first_.size() / 2);
    for (const std::size_t shift : shifts) {
      TUTTI_TRY(meet());
      if (self == first_.end()) continue;
      const std::uint32_t next = first_[(host + shift) % first_.size()];
      const std::uint32_t before = first_[(host + first_.size() - shift) % first_.size()];
      const auto step = [&](std::uint64_t bytes) {
        return communicator_.exchange(sent(next, bytes), received(before, bytes));
      };
      for (StepTime& each : measured_.steps) {
        const double expected = slowest + static_cast<double>(each.bytes) / least_rate;
        TUTTI_TRY_ASSIGN(const double taken, mean_of(step, each.bytes, effort_.seconds * 1e9 / expected));
        each.time = std::max(each.time, taken);
      }
      const auto bytes = static_cast<std::uint64_t>(std::clamp(
          patience(2 * slowest) * least_rate, static_cast<double>(kWord), static_cast<double>(effort_.most_bytes)));
      TUTTI_TRY_ASSIGN(const double taken, mean_of(step, bytes, kStreams));
      const double found = static_cast<double>(bytes) / std::max(taken - measured_.steps.front().time, taken / 10);
      rate = rate == 0 ? found : std::min(rate, found);
    }
    // The slowest host counts, by what it takes for a byte; sharing takes the greatest.
    TUTTI_TRY_ASSIGN(const std::vector<double> greatest, greatest_of({rate > 0 ? 1 / rate : 0}, communicator_));
    measured_.all = 1 / greatest[0];
    return {};
  }
  // Each step waits for that of a neighbour, so hosts need not begin together.
  Result<double> mean_of(const std::function<Status(std::uint64_t)>& step, std::uint64_t bytes, double wanted) {
    const auto times = static_cast<std::uint64_t>(std::clamp(wanted, 3.0, 1000.0));
    TUTTI_TRY(step(bytes));
    const double begin = now();
    for (std::uint64_t i = 0; i < times; ++i) TUTTI_TRY(step(bytes));
    return (now() - begin) / static_cast<double>(times);
  }

  Communicator& communicator_;
  const NetworkEffort& effort_;
  BrokenPair& broken_;
  std::uint32_t rank_;
  std::unique_ptr<float[], Freed> out_;
  std::unique_ptr<float[], Freed> in_;
  std::vector<std::uint32_t> first_;  // rank of each host
  std::uint64_t slot_ = 0;            // the longest message
  NetworkMeasurements measured_;
};

}  // namespace

Result<NetworkMeasurements> measure_network(Communicator& communicator, const NetworkEffort& effort,
                                            BrokenPair& broken) {
  return Prober(communicator, effort, broken).measure();
}

}  // namespace tutti::calibrate
