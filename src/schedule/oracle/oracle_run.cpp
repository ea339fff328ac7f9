// SPDX-License-Identifier: Apache-2.0
#include "schedule/oracle/oracle_run.hpp"

#include <algorithm>
#include <numeric>
#include <random>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "schedule/oracle/oracle_machine.hpp"

namespace tutti::oracle {

namespace {

constexpr std::size_t kMostLines = 40;

std::vector<std::string> last_lines(const std::vector<std::string>& lines) {
  const std::size_t begin = lines.size() > kMostLines ? lines.size() - kMostLines : 0;
  return {lines.begin() + static_cast<std::ptrdiff_t>(begin), lines.end()};
}

// Chooses which row goes on. All of the ways are drawn from one seed.
class Interleaving {
 public:
  Interleaving(const Code& code, const RunOptions& options)
      : code_(code), machine_(code, options.depth, options.order, options.seed), random_(mix(options.seed + 2)) {
    order_.resize(machine_.num_rows());
    std::iota(order_.begin(), order_.end(), 0U);
    std::shuffle(order_.begin(), order_.end(), random_);
    kind_ = static_cast<Kind>(random_() % kNumKinds);
    if (kind_ == Kind::priorities) {
      std::size_t all = 0;
      for (const Row& row : code.rows) all += row.operations.size();
      for (std::uint64_t changes = random_() % 4; changes > 0; --changes) changes_.push_back(random_() % all);
      std::sort(changes_.begin(), changes_.end(), std::greater<>());
    }
    if (kind_ == Kind::held_back) hold_back();
  }

  Machine& machine() { return machine_; }

  // Whether all rows have come to their ends, without anything going wrong.
  bool run() {
    while (!machine_.has_failed() && move()) continue;
    return !machine_.has_failed() && machine_.is_at_end();
  }

 private:
  enum class Kind : std::uint8_t { chance, everywhere, priorities, held_back };
  static constexpr std::uint32_t kNumKinds = 4;

  // A row, and the place in it to be held back at: in front of something shared, where there is anything.
  void hold_back() {
    const std::uint32_t row = order_[0];
    const std::vector<Operation>& operations = code_.rows[row].operations;
    std::vector<std::uint32_t> places;
    for (std::uint32_t at = 0; at < operations.size(); ++at)
      if (operations[at].is_shared) places.push_back(at);
    if (places.empty()) return;
    held_ = row;
    held_at_ = places[random_() % places.size()];
  }

  bool move() {
    if (kind_ == Kind::priorities) return move_first();
    std::size_t remaining = order_.size();
    while (remaining > 0) {
      std::swap(order_[random_() % remaining], order_[remaining - 1]);
      if (advance(order_[--remaining])) return true;
    }
    // Nobody else can go on any more.
    if (held_ == UINT32_MAX) return false;
    held_ = UINT32_MAX;
    return true;
  }

  bool move_first() {
    while (!changes_.empty() && changes_.back() <= moves_) {
      changes_.pop_back();
      std::rotate(order_.begin(), order_.begin() + 1, order_.end());
    }
    return std::any_of(order_.begin(), order_.end(), [&](std::uint32_t row) { return advance(row); });
  }

  bool advance(std::uint32_t row) {
    const Operation* operation = machine_.next(row);
    if (operation == nullptr || !machine_.is_ready(*operation)) return false;
    if (row == held_ && machine_.at(row) >= held_at_) return false;
    machine_.perform(row, *operation);
    ++moves_;
    if (kind_ == Kind::everywhere) return true;
    const std::uint32_t before = machine_.at(row);
    machine_.settle(row);
    moves_ += machine_.at(row) - before;
    return true;
  }

  const Code& code_;
  Machine machine_;
  std::mt19937_64 random_;
  std::vector<std::uint32_t> order_;
  Kind kind_ = Kind::chance;
  std::vector<std::uint64_t> changes_;  // of priorities, the next one last
  std::uint64_t moves_ = 0;
  std::uint32_t held_ = UINT32_MAX;
  std::uint32_t held_at_ = 0;
};

Trouble trouble_of(const Machine& machine) {
  return {machine.has_failed() ? machine.failure() : machine.what_is_stuck(), last_lines(machine.steps())};
}

// Everything that is not shared, until nothing but what is shared is left to do.
void settle(Machine& machine) {
  for (bool moved = true; moved;) {
    moved = false;
    for (std::uint32_t row = 0; row < machine.num_rows(); ++row) moved = machine.settle(row) || moved;
  }
}

class Explorer {
 public:
  Explorer(const Code& code, const RunOptions& options, std::uint32_t most_states)
      : code_(code), options_(options), most_states_(most_states) {}

  Exploration run() {
    Machine machine(code_, options_.depth, options_.order, options_.seed);
    settle(machine);
    exploration_.is_complete = explore(machine);
    return std::move(exploration_);
  }

 private:
  // False where it was given up, or something was found.
  bool explore(const Machine& machine) {
    if (machine.has_failed()) return tell();
    if (!met_.insert(machine.fingerprint()).second) return true;
    if (++exploration_.states > most_states_) return false;
    bool moved = false;
    for (std::uint32_t row = 0; row < machine.num_rows(); ++row) {
      const Operation* operation = machine.next(row);
      if (operation == nullptr || !machine.is_ready(*operation)) continue;
      moved = true;
      Machine after = machine;
      after.perform(row, *operation);
      settle(after);
      path_.push_back(row);
      if (!explore(after)) return false;
      path_.pop_back();
    }
    return moved || machine.is_at_end() || tell();
  }

  // The same once more, step by step.
  bool tell() {
    Machine machine(code_, options_.depth, options_.order, options_.seed);
    machine.note_steps();
    settle(machine);
    for (const std::uint32_t row : path_) {
      machine.perform(row, *machine.next(row));
      settle(machine);
    }
    exploration_.trouble = trouble_of(machine);
    return false;
  }

  const Code& code_;
  const RunOptions& options_;
  std::uint32_t most_states_;
  Exploration exploration_;
  std::unordered_set<std::uint64_t> met_;
  std::vector<std::uint32_t> path_;
};

}  // namespace

std::optional<Trouble> run_once(const Code& code, const RunOptions& options) {
  if (!code.malformed.empty()) return Trouble{code.malformed, {}};
  Interleaving interleaving(code, options);
  if (interleaving.run()) return std::nullopt;
  if (!options.tells) return trouble_of(interleaving.machine());
  Interleaving again(code, options);
  again.machine().note_steps();
  again.run();
  return trouble_of(again.machine());
}

Exploration run_all(const Code& code, const RunOptions& options, std::uint32_t most_states) {
  if (!code.malformed.empty()) return {.trouble = Trouble{code.malformed, {}}};
  return Explorer(code, options, most_states).run();
}

std::string to_string(const Setting& setting) {
  return fmt::format("{}, {}, {}, {} slots, windows of {}", setting.fusion == Fusion::none ? "as written" : "fused",
                     setting.in_place ? "in place" : "out of place", setting.staged ? "staged" : "by name",
                     setting.slots, setting.sizes.window);
}

}  // namespace tutti::oracle
