// SPDX-License-Identifier: Apache-2.0
// A worker's side of one case: what the body says of it, and the runner's orders while exec() has the word.
// Internal to the worker; one thread.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/axes/case.hpp"
#include "bench/axes/declaration.hpp"
#include "bench/measure/meeting_place.hpp"
#include "bench/process/connection.hpp"
#include "bench/process/worker.hpp"

namespace tutti::harness {

// A counter of rank 0: by how much the clocks of hosts may be apart at most, as a median over rounds.
inline constexpr std::string_view kClockError = "clock_error_us";

// Ends a case from within its body; caught by the worker.
struct CaseEnded {
  std::string why;  // empty where nothing is wrong
};

class Session {
 public:
  Session(Connection& connection, Backend& backend, MeetingPlace& place)
      : connection_(connection), backend_(backend), place_(place) {}

  // One case, from its prepare order on, until it has ended and the runner has been told. Benches that are used for the
  // first time are set up, and put among these.
  Status run_case(const Json& order, const std::vector<Bench>& benches, std::vector<const Declaration*>& used);

  // The declaration's once-in-a-group parts; what was wrong, empty where nothing was.
  [[nodiscard]] std::string set_up(const Declaration& declaration);
  void tear_down(const Declaration& declaration);

  // --- for State and Context
  [[nodiscard]] const Value& value(std::string_view axis) const;
  [[nodiscard]] bool has(std::string_view axis) const { return point_.find(axis) != nullptr; }
  void exec(const std::function<void()>& call);
  void barrier();
  // What `root` says, on all ranks.
  [[nodiscard]] std::string broadcast(std::string_view bytes, int root);

  // What the body has said.
  Json said;
  std::string skipped;
  std::function<void()> before_check;
  std::function<std::string()> after_check;

 private:
  // As run_case(), of a bench that is there; what was wrong, empty where nothing was.
  [[nodiscard]] std::string run_body(const Declaration& declaration, const Json& order,
                                     std::vector<const Declaration*>& used);
  [[nodiscard]] Json samples(const Json& order, const std::function<void()>& call);
  [[nodiscard]] Json checked(const std::function<void()>& call);
  void meet();
  void answer(Json message);
  [[nodiscard]] Json await_order();

  Connection& connection_;
  Backend& backend_;
  MeetingPlace& place_;
  Point point_;
  bool has_run_ = false;
  std::vector<double> clock_errors_;  // of rounds, in microseconds
};

}  // namespace tutti::harness
