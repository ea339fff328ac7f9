// What a sweep tells while it runs: a line for each row as it is finished, on a terminal, with the time that is left.
// Main thread only.
#pragma once

#include <chrono>
#include <cstddef>
#include <span>

#include "bench/result.hpp"
#include "cli/command.hpp"

namespace tutti::cli {

class Progress {
 public:
  // Of so many cases so many were done before, and so many of these are bad.
  Progress(const Context& context, std::size_t num_cases, std::size_t num_done, std::size_t num_bad);

  // The rows of a case; those of a program may be many.
  void note(std::span<const harness::Row> rows);
  // Cases that are wrong or could not be measured.
  [[nodiscard]] std::size_t num_bad() const { return num_bad_; }
  [[nodiscard]] std::size_t num_done() const { return num_done_; }

 private:
  const Context& context_;
  std::size_t num_cases_;
  std::size_t num_done_;
  std::size_t first_;
  std::size_t num_bad_;
  bool is_terminal_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

[[nodiscard]] inline bool is_bad(const harness::Row& row) {
  return row.outcome == harness::Outcome::error || row.outcome == harness::Outcome::wrong;
}

}  // namespace tutti::cli
