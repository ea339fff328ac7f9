// SPDX-License-Identifier: Apache-2.0
// A worker's side of one case: what the body says of it, and the runner's orders while exec() has the word.
// Internal to the worker; one thread.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "bench/axes/case.hpp"
#include "bench/axes/declaration.hpp"
#include "bench/measure/sync_page.hpp"
#include "bench/process/connection.hpp"
#include "bench/process/worker.hpp"

namespace tutti::harness {

// Ends a case from within its body; caught by the worker.
struct CaseEnded {
  std::string why;  // empty where nothing is wrong
};

class Session {
 public:
  // `iteration` is how many times the ranks have met in the page: counted on, alike on all of them, over all cases.
  Session(Connection& connection, Backend& backend, SyncPage& page, bool shares_cores, std::uint64_t& iteration)
      : connection_(connection), backend_(backend), page_(page), shares_cores_(shares_cores), iteration_(iteration) {}

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
  // What stands on the board of `root`'s making, on all ranks.
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
  SyncPage& page_;
  bool shares_cores_;
  Point point_;
  bool has_run_ = false;
  std::uint64_t& iteration_;
};

}  // namespace tutti::harness
