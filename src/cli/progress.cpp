#include "cli/progress.hpp"

#include <algorithm>
#include <ostream>

#include <fmt/format.h>
#include <unistd.h>

#include "bench/views.hpp"

namespace tutti::cli {

Progress::Progress(const Context& context, std::size_t num_cases, std::size_t num_done, std::size_t num_bad)
    : context_(context),
      num_cases_(num_cases),
      num_done_(num_done),
      first_(num_done),
      num_bad_(num_bad),
      is_terminal_(::isatty(STDERR_FILENO) != 0) {}

void Progress::note(std::span<const harness::Row> rows) {
  ++num_done_;
  const auto bad = std::find_if(rows.begin(), rows.end(), is_bad);
  if (bad != rows.end()) ++num_bad_;
  if (!is_terminal_) return;
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin_;
  const double left = spent.count() / static_cast<double>(num_done_ - first_) *
                      static_cast<double>(num_cases_ - std::min(num_done_, num_cases_));
  context_.error << fmt::format("[{}/{}, {:.0f} s left] {}\n", num_done_, num_cases_, left,
                                harness::in_a_line(bad != rows.end() ? *bad : rows.back()));
  if (rows.size() > 1) context_.error << fmt::format("  and {} more rows\n", rows.size() - 1);
}

}  // namespace tutti::cli
