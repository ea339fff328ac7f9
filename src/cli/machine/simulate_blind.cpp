// SPDX-License-Identifier: Apache-2.0
#include "cli/machine/simulate_blind.hpp"

#include <vector>

#include <fmt/format.h>

#include "base/counted.hpp"
#include "base/system/file.hpp"
#include "bench/views/table.hpp"

namespace tutti::cli {

namespace {

using simulate::BlindTime;
using simulate::Predictor;

constexpr int kBlindDigits = 4;

Table times_of(const std::vector<BlindTime>& all, const simulate::References& references) {
  Table table({{"figure"},
               {"ranks", 0, true},
               {"bytes"},
               {"unit", 0, true},
               {"published"},
               {.name = "simulated", .digits = kBlindDigits},
               {.name = "corrected", .digits = kBlindDigits},
               {.name = "low", .digits = kBlindDigits},
               {.name = "high", .digits = kBlindDigits},
               {.name = "nearest", .digits = kBlindDigits},
               {.name = "linear", .digits = kBlindDigits},
               {.name = "log_log", .digits = kBlindDigits},
               {"left_out", 0, true}});
  for (const BlindTime& time : all) {
    const auto predicted = [&](Predictor predictor) { return time.times[static_cast<std::size_t>(predictor)]; };
    const double corrected = predicted(Predictor::corrected);
    table.add_row({time.series->id, std::int64_t{time.ranks}, static_cast<std::int64_t>(time.bytes), references.unit,
                   time.published, predicted(Predictor::simulated), corrected, corrected / time.factor,
                   corrected * time.factor, predicted(Predictor::nearest), predicted(Predictor::linear),
                   predicted(Predictor::log_log), time.left_out});
  }
  return table;
}

Table scores_of(const std::vector<BlindTime>& all) {
  Table table({{"predictor"},
               {.name = "median_error_percent", .digits = 2},
               {"right_winner"},
               {.name = "mean_regret_percent", .digits = 2}});
  for (std::size_t each = 0; each < simulate::kNumPredictors; ++each) {
    const simulate::BlindScore score = score_of(all, static_cast<Predictor>(each));
    table.add_row({std::string(simulate::kPredictorNames[each]), score.median_error * 100,
                   fmt::format("{} of {}", score.winners, score.contests), score.mean_regret * 100});
  }
  return table;
}

}  // namespace

Result<std::string> blind_test(const std::string& path, simulate::LeftOut what, const OutputOptions& output,
                               const Context& context) {
  TUTTI_TRY_ASSIGN(const std::string text, read_file(path, simulate::kMostReferenceBytes));
  TUTTI_TRY_ASSIGN(const simulate::References references, simulate::read_references(text, path));
  TUTTI_TRY_ASSIGN(const std::vector<BlindTime> all,
                   simulate::predict_left_out(references, what, [&](const std::string& fold) {
                     context.error << "tutti simulate: fitting without " << fold << std::endl;
                   }));
  if (all.empty())
    return wrong_argument(fmt::format("{} has nothing to leave out: no fit is about times of {}", path,
                                      what == simulate::LeftOut::ranks ? "several numbers of ranks" : "several sizes"));
  std::string answer = rendered(times_of(all, references), output);
  if (output.format != Format::table) return answer;
  answer += "\n" + rendered(scores_of(all), output);
  const double deviations = deviations_of(all, [](const BlindTime&) { return true; });
  answer += fmt::format(
      "{} left out; {:.0f} % lie within the interval of 90 % of the corrected prediction, which the others' errors "
      "give\n"
      "90 % are wrong by up to {:.2f} of their expected deviations\n",
      counted(all.size(), "time"), score_of(all, Predictor::corrected).within * 100, deviations);
  if (what == simulate::LeftOut::ranks)
    answer += fmt::format("beyond the numbers of ranks that are seen, {:.2f} of a correction holds\n",
                          simulate::beyond_ranks_of(all));
  return answer;
}

}  // namespace tutti::cli
