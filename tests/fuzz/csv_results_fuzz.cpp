// SPDX-License-Identifier: Apache-2.0
// Results as CSV: any text is refused with its file, or has times that can be judged.
#include <cmath>
#include <string_view>

#include "cli/tune/results/csv.hpp"
#include "cli/tune/results/results_input.hpp"
#include "fuzz.hpp"

namespace tutti {
namespace {

using fuzz::require;

void check_results(std::string_view text) {
  if (const Result<std::vector<cli::CsvRow>> rows = cli::read_csv(text); rows.ok())
    for (const cli::CsvRow& row : *rows) require(row.line > 0 && !row.fields.empty(), "a row has a line and fields");
  const Result<cli::ReadResults> results = cli::results_of_csv(text, "my.csv");
  if (!results.ok()) {
    require(results.status().to_string().starts_with("my.csv"), "an error has its file");
    return;
  }
  for (const tune::Timing& timing : results->timings) {
    require(timing.key.ranks > 0, "there are ranks");
    require(std::isfinite(timing.time.us) && timing.time.us > 0, "a time is above 0");
  }
}

}  // namespace
}  // namespace tutti

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tutti::check_results(tutti::fuzz::as_text(data, size));
  return 0;
}
