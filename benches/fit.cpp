// SPDX-License-Identifier: Apache-2.0
// Fits the parameters of fabrics to figures: `fit data/references/vllm_all_reduce.toml [NAME ...]`. What it prints goes
// into the fabrics' files. How good it is on all figures: `tutti simulate --against FILE`.
#include "simulate/references/fit.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/system/file.hpp"
#include "base/text.hpp"
#include "simulate/references/against.hpp"
#include "simulate/references/losses.hpp"

namespace tutti {

namespace {

// Of each series on the fabric, also those that the fit has not seen: the errors from the first figure to the last.
Status print_errors(const simulate::References& references, const simulate::Fit& fit,
                    const std::vector<simulate::ParameterValue>& parameters) {
  std::vector<const simulate::Series*> series;
  for (const simulate::Series& each : references.series)
    if (simulate::is_about(fit, each)) series.push_back(&each);
  const Result<std::vector<simulate::Compared>> all = simulate::compare(
      references, series, [&](const std::string& fabric) { return simulate::with_parameters(fabric, parameters); });
  if (!all.ok()) return all.status();
  const simulate::Series* last = nullptr;
  for (const simulate::Compared& each : *all) {
    const bool is_time = each.series->metric == simulate::Metric::time;
    if (each.series != last)
      fmt::print("{}  {} ({}):", last == nullptr ? "" : "\n", each.series->id,
                 is_time ? "%" : name_of(each.series->metric));
    fmt::print(" {}{:.1f}", each.is_left_out ? "*" : "", each.error() * (is_time ? 100 : 1));
    last = each.series;
  }
  const auto counts = [](bool left_out) {
    return [left_out](const simulate::Compared& each) { return each.is_left_out == left_out; };
  };
  fmt::print("\n");
  for (const bool left_out : {false, true}) {
    const simulate::Score score = simulate::score(*all, simulate::Metric::time, counts(left_out));
    if (score.cells > 0)
      fmt::print("  {}: median {:.1f} %, winners {} of {}\n", left_out ? "left out" : "fitted",
                 score.median_error * 100, score.winners, score.contests);
  }
  return {};
}

int run(const std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments.front().starts_with("-")) {
    fmt::print(
        "fit FILE [NAME ...]: the fits of a file of references (docs/formats/references.md), or these of them\n");
    return arguments.empty() ? 2 : 0;
  }
  const auto failed = [](const Status& status) {
    fmt::print(stderr, "fit: {}\n", status.to_string());
    return 2;
  };
  const Result<std::string> text = read_file(arguments.front(), simulate::kMostReferenceBytes);
  if (!text.ok()) return failed(text.status());
  const Result<simulate::References> references = simulate::read_references(*text, arguments.front());
  if (!references.ok()) return failed(references.status());
  std::vector<std::string> known;
  for (const simulate::Fit& each : references->fits) known.push_back(each.name);
  for (std::size_t i = 1; i < arguments.size(); ++i)
    if (std::find(known.begin(), known.end(), arguments[i]) == known.end())
      return failed({Code::invalid_argument, fmt::format("there is no fit {}; {} has: {}", in_quotes(arguments[i]),
                                                         arguments.front(), fmt::join(known, ", "))});
  for (const simulate::Fit& each : references->fits) {
    if (arguments.size() > 1 && std::find(arguments.begin() + 1, arguments.end(), each.name) == arguments.end())
      continue;
    const Result<simulate::Fitted> fitted = simulate::fit(*references, each, [](const simulate::Fitted& so_far) {
      fmt::print(stderr, "{:8.4f} after {} tries\n", so_far.loss, so_far.tries);
    });
    if (!fitted.ok()) return failed(fitted.status());
    fmt::print("{}: {} parameters, fitted to {} figures; the loss was {:.4f} and is {:.4f}\n", each.name,
               fitted->parameters.size(), fitted->cells, fitted->loss_before, fitted->loss);
    for (const simulate::ParameterValue& parameter : fitted->parameters)
      fmt::print("  {} = {}\n", parameter.name, parameter.value);
    if (const Status status = print_errors(*references, each, fitted->parameters); !status.ok()) return failed(status);
  }
  return 0;
}

}  // namespace

}  // namespace tutti

int main(int count, char** words) { return tutti::run({words + 1, words + count}); }
