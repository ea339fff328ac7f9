// SPDX-License-Identifier: Apache-2.0
#include "simulate/gemm/operations.hpp"

#include <deque>

#include "base/assert.hpp"
#include "simulate/network/transfer.hpp"

namespace tutti::simulate {

namespace {

class Operator {
 public:
  Operator(std::span<const Operation> operations, std::uint32_t num_units, const fabric::Fabric& fabric)
      : operations_(operations),
        network_(fabric, transfers_, events_, [this](TransferId id, double time) { crossed(id, time); }),
        units_(num_units) {
    answer_.operations.resize(operations.size());
    learn_who_waits();
  }

  Operated run() {
    for (std::uint32_t id = 0; id < operations_.size(); ++id)
      if (waits_for_[id] == 0) units_[operations_[id].unit].ready.push_back(id);
    for (Unit& unit : units_) begin_next(unit);
    answer_.events = events_.run([this](const Events::Event& event) {
      now_ = event.time;
      switch (event.what.of) {
        case Turn::Of::lane: end(event.what.id); break;
        case Turn::Of::start: network_.start(event.what.id, now_); break;
        default: network_.turn(event.what, now_); break;
      }
      return true;
    });
    answer_.links = network_.uses();
    return std::move(answer_);
  }

 private:
  struct Unit {
    bool is_busy = false;
    std::deque<std::uint32_t> ready;
  };

  // Who comes after each operation: those of number i stand in followers_ from first_follower_[i] on.
  void learn_who_waits() {
    waits_for_.resize(operations_.size());
    first_follower_.resize(operations_.size() + 1);
    for_each_order([&](std::uint32_t before, std::uint32_t id) {
      ++waits_for_[id];
      ++first_follower_[before + 1];
    });
    for (std::size_t i = 1; i < first_follower_.size(); ++i) first_follower_[i] += first_follower_[i - 1];
    followers_.resize(first_follower_.back());
    std::vector<std::uint32_t> next(first_follower_.begin(), first_follower_.end() - 1);
    for_each_order([&](std::uint32_t before, std::uint32_t id) { followers_[next[before]++] = id; });
  }
  template <typename Act>
  void for_each_order(const Act& act) const {
    for (std::uint32_t id = 0; id < operations_.size(); ++id) {
      for (const std::uint32_t before : operations_[id].after) {
        if (before == kNoOperation) continue;
        TUTTI_ASSERT(before < id, "an operation comes after one that is later in the list");
        act(before, id);
      }
    }
  }

  void begin_next(Unit& unit) {
    if (unit.is_busy || unit.ready.empty()) return;
    const std::uint32_t id = unit.ready.front();
    unit.ready.pop_front();
    unit.is_busy = true;
    answer_.operations[id].begin = now_;
    const Operation& operation = operations_[id];
    const double worked = now_ + operation.work;
    if (operation.bytes <= 0) return events_.push(worked, {.of = Turn::Of::lane, .id = id});
    const TransferId transfer = transfers_.add();
    transfers_[transfer] = {.whose = id, .bytes = operation.bytes, .links = operation.links};
    events_.push(worked, {.of = Turn::Of::start, .id = transfer});
  }

  void crossed(TransferId transfer, double time) {
    events_.push(time, {.of = Turn::Of::lane, .id = transfers_[transfer].whose});
    transfers_.remove(transfer);
  }

  void end(std::uint32_t id) {
    answer_.operations[id].end = now_;
    for (std::uint32_t i = first_follower_[id]; i < first_follower_[id + 1]; ++i)
      if (--waits_for_[followers_[i]] == 0) units_[operations_[followers_[i]].unit].ready.push_back(followers_[i]);
    units_[operations_[id].unit].is_busy = false;
    for (Unit& unit : units_) begin_next(unit);
  }

  std::span<const Operation> operations_;
  Events events_;
  Transfers transfers_;
  Network network_;
  std::vector<Unit> units_;
  std::vector<std::uint32_t> waits_for_;  // how many operations each one still does
  std::vector<std::uint32_t> first_follower_;
  std::vector<std::uint32_t> followers_;
  Operated answer_;
  double now_ = 0;
};

}  // namespace

Operated operate(std::span<const Operation> operations, std::uint32_t num_units, const fabric::Fabric& fabric) {
  return Operator(operations, num_units, fabric).run();
}

}  // namespace tutti::simulate
