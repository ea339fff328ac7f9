// SPDX-License-Identifier: Apache-2.0
#include "calibrate/network/measure_together.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "calibrate/measure.hpp"
#include "calibrate/network/greatest.hpp"

namespace tutti::calibrate {

namespace {

constexpr std::uint64_t kLeast = 8;
constexpr std::uint64_t kSome = std::uint64_t{64} << 10;  // by which the longest is chosen
constexpr std::uint64_t kMost = std::uint64_t{4} << 20;
constexpr std::uint64_t kLeastSteps = 3;
constexpr std::uint64_t kMostSteps = 10'000;
constexpr std::uint64_t kGrowth = 4;
constexpr double kEfforts = 4;  // since all places are to begin and end together

class Together {
 public:
  Together(Communicator& communicator, const NetworkEffort& effort)
      : communicator_(communicator),
        out_(make_zeroes(kMost / sizeof(float))),
        in_(make_zeroes(kMost / sizeof(float))),
        nanos_(effort.seconds * 1e9) {
    const std::vector<std::uint32_t>& host_of = communicator.hosts().host_of;
    std::vector<std::size_t> seen(communicator.hosts().count());
    for (std::uint32_t rank = 0; rank < host_of.size(); ++rank) {
      const std::size_t place = seen[host_of[rank]]++;
      if (place == rings_.size()) rings_.emplace_back();
      if (rank == communicator.rank()) place_ = place;
      rings_[place].push_back(rank);
    }
  }

  // What a short step takes is not what a rate is about.
  [[nodiscard]] Result<std::vector<double>> measure() {
    TUTTI_TRY_ASSIGN(const std::vector<double> shortest, times_of(std::vector<std::uint64_t>(rings_.size(), kLeast)));
    TUTTI_TRY_ASSIGN(const std::vector<double> some, times_of(std::vector<std::uint64_t>(rings_.size(), kSome)));
    std::vector<std::uint64_t> bytes;
    for (const double time : some) {
      const double wanted = static_cast<double>(kSome) * nanos_ / std::max(time, 1.0);
      bytes.push_back(
          static_cast<std::uint64_t>(std::clamp(wanted, static_cast<double>(kSome), static_cast<double>(kMost))));
    }
    TUTTI_TRY_ASSIGN(const std::vector<double> longest, times_of(bytes));
    std::vector<double> rates(rings_.size());
    for (std::size_t place = 0; place < rings_.size(); ++place)
      if (rings_[place].size() > 1)
        rates[place] = static_cast<double>(bytes[place] - kLeast) /
                       std::max(longest[place] - shortest[place], longest[place] / 10);
    return rates;
  }

 private:
  // What a step of so many bytes at each place takes there. The number of steps grows little by little: a network that
  // limits the rate may let the first ones pass quickly, and what they take says nothing of thousands.
  Result<std::vector<double>> times_of(const std::vector<std::uint64_t>& bytes_of_places) {
    std::vector<std::uint64_t> steps(rings_.size(), kLeastSteps);
    for (bool is_last = false;;) {
      TUTTI_TRY(run_steps(bytes_of_places[place_], steps[place_]));
      TUTTI_TRY_ASSIGN(const std::vector<double> times, slowest(static_cast<double>(steps[place_])));
      bool grow = false;
      bool are_enough = true;
      for (std::size_t place = 0; place < rings_.size(); ++place) {
        const std::uint64_t most = kGrowth * steps[place];
        const std::uint64_t wanted = rings_[place].size() > 1 ? steps_for(times[place]) : kLeastSteps;
        are_enough = are_enough && wanted <= most;
        grow = grow || wanted > steps[place];
        steps[place] = std::clamp(wanted, steps[place], most);
      }
      if (is_last || !grow) return times;
      is_last = are_enough;
    }
  }
  [[nodiscard]] std::uint64_t steps_for(double time) const {
    const double wanted = kEfforts * nanos_ / std::max(time, 1.0);
    return static_cast<std::uint64_t>(
        std::clamp(wanted, static_cast<double>(kLeastSteps), static_cast<double>(kMostSteps)));
  }

  // Each waits for those of its neighbours, so that ranks of a place end together.
  Status run_steps(std::uint64_t bytes, std::uint64_t steps) {
    TUTTI_TRY(communicator_.run({.collective = Collective::barrier}));
    const std::vector<std::uint32_t>& ring = rings_[place_];
    const auto own = static_cast<std::size_t>(std::find(ring.begin(), ring.end(), communicator_.rank()) - ring.begin());
    Transfer sent{.direction = Transfer::Direction::send,
                  .peer = ring[(own + 1) % ring.size()],
                  .data = reinterpret_cast<std::byte*>(out_.get()),
                  .count = bytes,
                  .type = Type::u8};
    Transfer received = sent;
    received.direction = Transfer::Direction::receive;
    received.peer = ring[(own + ring.size() - 1) % ring.size()];
    received.data = reinterpret_cast<std::byte*>(in_.get());
    const auto begin = std::chrono::steady_clock::now();
    for (std::uint64_t step = 0; step < steps && ring.size() > 1; ++step)
      TUTTI_TRY(communicator_.exchange(sent, received));
    taken_ = std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count();
    return {};
  }

  // What a step of each place has taken, where it took longest.
  Result<std::vector<double>> slowest(double steps) {
    std::vector<double> mine(rings_.size());
    mine[place_] = taken_ / steps;
    return greatest_of(mine, communicator_);
  }

  Communicator& communicator_;
  std::unique_ptr<float[], Freed> out_;
  std::unique_ptr<float[], Freed> in_;
  double nanos_;
  std::vector<std::vector<std::uint32_t>> rings_;  // by place on the host: its ranks
  std::size_t place_ = 0;
  double taken_ = 0;  // by the last steps
};

}  // namespace

Result<std::vector<double>> measure_together(Communicator& communicator, const NetworkEffort& effort) {
  if (communicator.hosts().count() < 2) return Status(Code::invalid_usage, "all ranks are on one host");
  return Together(communicator, effort).measure();
}

}  // namespace tutti::calibrate
