// SPDX-License-Identifier: Apache-2.0
// The null peer: does nothing, for exactly as long as it is told, or goes wrong in the way it is told.
#include <csignal>
#include <cstdio>
#include <ctime>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "base/variables/environment.hpp"
#include "bench/measure/clock.hpp"
#include "bench/process/launcher_variables.hpp"
#include "peers/null/misbehaviour.hpp"
#include "peers/null/orders.hpp"
#include "peers/peer.hpp"

namespace tutti::peers {

namespace {

void spin(std::int64_t nanoseconds) {
  const std::int64_t end = harness::now() + nanoseconds;
  while (harness::now() < end) continue;
}

void sleep(std::int64_t nanoseconds) {
  std::timespec left{nanoseconds / 1'000'000'000, nanoseconds % 1'000'000'000};
  while (::nanosleep(&left, &left) != 0) continue;
}

class NullPeer final : public Peer {
 public:
  explicit NullPeer(const NullOrders& orders) : orders_(orders) {}

  Status begin(int rank, int num_ranks) override {
    rank_ = rank;
    num_ranks_ = num_ranks;
    sleep(orders_.begin);
    return {};
  }
  [[nodiscard]] int rank() const override { return orders_.claimed_rank.value_or(rank_); }
  [[nodiscard]] int num_ranks() const override { return num_ranks_; }
  [[nodiscard]] std::string version() const override { return "nothing"; }
  [[nodiscard]] bool gives_results() const override { return orders_.is_wrong; }

  Result<Operation> prepare(const Request&) override {
    const bool breaks = is_mine(orders_.crash) || is_mine(orders_.hang) || is_mine(orders_.fail);
    const auto work = static_cast<std::int64_t>(static_cast<double>(orders_.work) * orders_.factor);
    if (!breaks && orders_.delay == 0 && work == 0) return Operation{[] {}};
    return Operation{[this, work] {
      ++calls_;
      break_down();
      if (work > 0) spin(work);
      if (orders_.delay > 0) (orders_.spins ? spin : sleep)(orders_.delay);
    }};
  }

  [[nodiscard]] harness::Evidence evidence(const harness::Setting& setting) const override {
    if (setting.name.starts_with(kNullPrefix)) return confirmed("the null peer refuses what it does not know");
    return ignored("the null peer obeys only what begins with TUTTI_NULL_");
  }

 private:
  [[nodiscard]] bool is_mine(const std::optional<Moment>& moment) const { return moment && moment->rank == rank_; }
  void break_down() const {
    if (is_mine(orders_.crash) && orders_.crash->call == calls_) static_cast<void>(std::raise(SIGKILL));
    if (is_mine(orders_.hang) && orders_.hang->call == calls_)
      while (true) ::pause();
    if (is_mine(orders_.fail) && orders_.fail->call == calls_) throw std::runtime_error("failed as it is told");
  }

  NullOrders orders_;
  int rank_ = 0;
  int num_ranks_ = 1;
  std::uint64_t calls_ = 0;
};

int work(const Environment& environment) {
  const Result<NullOrders> orders = null_orders(environment);
  if (!orders.ok()) {
    std::fprintf(stderr, "worker: %s\n", orders.status().to_string().c_str());
    return 1;
  }
  const Result<harness::WorldRank> place = harness::world_rank_in(environment);
  const auto [rank, num_ranks] = place.ok() ? *place : harness::WorldRank();
  if (orders->exit == rank) {
    std::fprintf(stderr, "worker: rank %d ends at once, as it is told\n", rank);
    return 3;
  }
  if (orders->stranger == rank) visit_as_stranger(environment);
  // More than the runner listens to at once.
  constexpr int kCrowd = 100;
  const auto silent = orders->crowded == rank ? crowd(environment, kCrowd) : std::vector<harness::Connection>();
  if (misbehaves(*orders, rank)) return misbehave(*orders, rank, num_ranks, environment);
  NullPeer peer(*orders);
  return run_worker(peer, environment);
}

}  // namespace

}  // namespace tutti::peers

int main() { return tutti::peers::work(tutti::Environment::of_this_process()); }
