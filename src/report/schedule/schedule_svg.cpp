// SPDX-License-Identifier: Apache-2.0
#include "report/schedule/schedule_svg.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "base/counted.hpp"
#include "base/text.hpp"
#include "report/picture.hpp"
#include "report/schedule/schedule_columns.hpp"
#include "report/svg.hpp"
#include "schedule/timeline/timeline.hpp"

namespace tutti::report {

namespace {

constexpr double kLeft = 86;          // of the names of the ranks
constexpr double kMostExtent = 2400;  // either way
constexpr double kBand = 38;          // the height of a lane
constexpr double kBetweenRanks = 26;  // where arrows have room to be seen
constexpr double kBox = 30;           // the height of a box: pieces, and below them ranks
constexpr double kArrows = 28;        // between two units of time: arrows cross it
constexpr double kLeftOut = 104;      // where units of time are left out
constexpr double kLeftOutRanks = 40;  // where ranks are
constexpr double kMark = 6;           // the width of a step that takes no time
constexpr double kLegend = 44;
constexpr double kRanksSize = 9;  // of the letters in the second line of a box
constexpr double kMostBoxWidth = 96;
constexpr double kLeastWidth = 780;

struct Look {
  std::string_view word;
  std::string_view fill;
};

// By what a step does to data; the legend has them in this order.
constexpr Look kFold = {"folds", "#4477aa"};
constexpr Look kMove = {"moves", "#8fb8de"};
constexpr Look kCopy = {"copies", "#c9d8e8"};
constexpr Look kPost = {"tells", "#ccbb44"};
constexpr Look kWait = {"waits", "#bbbbbb"};

const Look& look_of(const Step& step) {
  if (is_post(step)) return kPost;
  if (step.kind != StepKind::combine) return kWait;
  if (step.sources.size() > 1 || step.sources[0].place == Place::multicast) return kFold;
  const auto is_local = [](const Endpoint& end) { return end.place == Place::local; };
  const bool stays =
      is_local(step.sources[0]) && std::all_of(step.destinations.begin(), step.destinations.end(), is_local);
  return stays ? kCopy : kMove;
}

struct Arrow {
  TimedTransfer::Kind kind;
  std::string_view word;
  std::string_view color;
};
constexpr Arrow kArrowsOf[] = {{TimedTransfer::Kind::message, "message", "#aa3377"},
                               {TimedTransfer::Kind::read, "read", "#228833"},
                               {TimedTransfer::Kind::write, "write", "#ee6677"},
                               {TimedTransfer::Kind::wait, "wait", "#999999"}};

const Arrow& arrow_of(TimedTransfer::Kind kind) {
  return *std::find_if(std::begin(kArrowsOf), std::end(kArrowsOf) - 1,
                       [&](const Arrow& arrow) { return arrow.kind == kind; });
}

// The pieces that a step is about, short enough for its box.
std::string pieces_of(const Step& step) {
  if (step.sources.empty()) return "";
  const Slice& slice = step.sources[0].slice;
  const std::string pieces = slice.num_pieces == 1
                                 ? fmt::format("{}", slice.first_piece)
                                 : fmt::format("{}-{}", slice.first_piece, slice.first_piece + slice.num_pieces - 1);
  if (slice.num_blocks > 1) return fmt::format("{} from {}", slice.num_blocks, slice.block);
  return slice.block == 0 ? pieces : fmt::format("{}.{}", slice.block, pieces);
}

// "from 3", "to 1,2", "to 7 ranks", "to all"; nothing where all of it is the rank's own.
std::string ranks_of(std::string_view word, const std::vector<Endpoint>& ends) {
  std::set<std::uint32_t> ranks;
  for (const Endpoint& end : ends) {
    if (end.place == Place::multicast) return fmt::format("{} all", word);
    if (end.place != Place::local) ranks.insert(end.rank);
  }
  constexpr std::size_t kMostNamed = 3;
  if (ranks.empty()) return "";
  return ranks.size() > kMostNamed ? fmt::format("{} {} ranks", word, ranks.size())
                                   : fmt::format("{} {}", word, fmt::join(ranks, ","));
}

std::string partners_of(const Step& step) {
  const std::string from = ranks_of("from", step.sources);
  const std::string to = ranks_of("to", step.destinations);
  return from.empty() || to.empty() ? from + to : fmt::format("{} {}", from, to);
}

class Drawing {
 public:
  explicit Drawing(const Programs& programs)
      : programs_(programs), timeline_(timeline_of(programs)), rank_height_(programs.num_lanes() * kBand) {
    choose_box();
    choose_columns();
    choose_ranks();
  }

  std::string draw() {
    const Schedule& schedule = programs_.schedule();
    draw_ranks();
    draw_left_out();
    for (const TimedTransfer& transfer : timeline_.transfers) draw_transfer(transfer);
    for (std::uint32_t rank = 0; rank < programs_.num_ranks(); ++rank)
      if (y_of(rank)) draw_steps(rank);
    draw_legend(bottom_ + 22);
    return picture_.with_head(fmt::format("{} {}", name_of(schedule.collective), schedule.name), remark(), width_,
                              bottom_ + kLegend);
  }

 private:
  [[nodiscard]] std::string remark() const {
    const Schedule& schedule = programs_.schedule();
    return fmt::format(
        "{}, {} a block; time to the right, one unit for every step that moves data, {} in all; a box has its pieces, "
        "and below them the ranks that they come from or go to",
        counted(schedule.num_ranks, "rank"), counted(schedule.division(Space::input).pieces, "piece"),
        timeline_.length);
  }
  [[nodiscard]] double unit() const { return box_width_ + kArrows; }

  void choose_box() {
    double longest = 0;
    for (std::uint32_t rank = 0; rank < programs_.num_ranks(); ++rank)
      for (const TimedStep& timed : timeline_.ranks[rank]) {
        if (timed.end == timed.begin) continue;
        const Step& step = programs_.steps(rank, timed.lane)[timed.index];
        longest = std::max({longest, width_of_words(pieces_of(step)), width_of_words(partners_of(step), kRanksSize)});
      }
    box_width_ = std::clamp(longest + 8, 30.0, kMostBoxWidth);
  }

  void choose_columns() {
    const double room = kMostExtent - kLeft - 40;
    columns_ = columns_to_show(signatures_of(programs_, timeline_), static_cast<std::uint32_t>(room / unit()));
    double x = kLeft + kArrows;
    x_of_unit_.assign(timeline_.length + 1, std::nan(""));
    for (const ShownColumns& part : columns_) {
      for (std::uint32_t time = part.begin; time < part.end; ++time, x += unit()) x_of_unit_[time] = x;
      if (part.num_left_out > 0) x += kLeftOut;
    }
    x_of_unit_.back() = x;
    width_ = std::max(x + 20, kLeastWidth);
  }

  void choose_ranks() {
    const std::uint32_t all = programs_.num_ranks();
    const double each = rank_height_ + kBetweenRanks;
    double y = report::height_of_head(remark(), width_) + 30;
    const double room = kMostExtent - y - kLegend;
    const auto most = std::max(static_cast<std::uint32_t>(room / each), 3U);
    const std::uint32_t behind = all > most ? std::max(most / 4, 1U) : 0;
    const std::uint32_t before = all > most ? most - behind - 1 : all;
    y_of_rank_.assign(all, std::nan(""));
    for (std::uint32_t rank = 0; rank < all; ++rank) {
      if (rank == before) {
        left_out_ranks_ = all - before - behind;
        y_of_left_out_ranks_ = y;
        y += kLeftOutRanks;
        rank += left_out_ranks_;
      }
      y_of_rank_[rank] = y;
      y += each;
    }
    bottom_ = y;
  }

  // None where it is left out.
  [[nodiscard]] std::optional<double> y_of(std::uint32_t rank) const {
    return std::isnan(y_of_rank_[rank]) ? std::nullopt : std::optional(y_of_rank_[rank]);
  }
  [[nodiscard]] std::optional<double> x_of(std::uint32_t time) const {
    return std::isnan(x_of_unit_[time]) ? std::nullopt : std::optional(x_of_unit_[time]);
  }

  void draw_ranks() {
    for (std::uint32_t rank = 0; rank < programs_.num_ranks(); ++rank) {
      const std::optional<double> y = y_of(rank);
      if (!y) continue;
      picture_.add(
          fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"#f6f6f4\"/>\n",
                      kLeft - 4, *y, width_ - kLeft - 12, rank_height_));
      picture_.text(16, *y + rank_height_ / 2 + 4, fmt::format("rank {}", rank));
    }
  }

  void draw_left_out() {
    if (left_out_ranks_ > 0)
      picture_.text(kLeft, y_of_left_out_ranks_ + 12, fmt::format("... {} more ranks ...", left_out_ranks_));
    for (const ShownColumns& part : columns_) {
      if (part.num_left_out == 0) continue;
      const double x = x_of_unit_[part.end - 1] + unit() - kArrows + 10;
      const double middle = x + (kLeftOut - 20) / 2;
      const double top = y_of_rank_[0];
      picture_.text(middle, top - 16, fmt::format("... {} more", part.num_left_out), {.anchor = "middle"});
      picture_.text(middle, top - 4, part.is_repeated ? "like these ..." : "left out ...", {.anchor = "middle"});
      picture_.add(
          fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"#ffffff\" "
                      "stroke=\"#cccccc\" stroke-dasharray=\"3 3\"/>\n",
                      x, top, kLeftOut - 20, bottom_ - kBetweenRanks - top));
    }
  }

  void draw_transfer(const TimedTransfer& transfer) {
    const std::optional<double> from_rank = y_of(transfer.from_rank);
    const std::optional<double> to_rank = y_of(transfer.to_rank);
    const std::optional<double> end = x_of(transfer.end);
    // It leaves behind the step that ends then.
    const std::optional<double> before = transfer.begin == 0 ? x_of(0) : x_of(transfer.begin - 1);
    if (!from_rank || !to_rank || !end || !before) return;
    const double begin = transfer.begin == 0 ? *before - kArrows + 4 : *before + box_width_ + 2;
    // From the nearer edge of the one rank to the nearer edge of the other, so that arrows do not cross their own rows.
    const bool down = transfer.to_rank > transfer.from_rank;
    const double from = *from_rank + (down ? rank_height_ : 0);
    const double to = *to_rank + (down ? 0 : rank_height_);
    const Arrow& arrow = arrow_of(transfer.kind);
    const bool is_message = transfer.kind == TimedTransfer::Kind::message;
    arrows_.insert(arrow.word);
    picture_.add(fmt::format(
        "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\" stroke-width=\"1.2\" "
        "stroke-opacity=\"{}\"{}><title>{}</title></line>\n",
        begin, from, *end - 2, to, arrow.color, is_message ? 0.75 : 0.45, is_message ? "" : " stroke-dasharray=\"4 3\"",
        fmt::format("{} from rank {} to {}", arrow.word, transfer.from_rank, transfer.to_rank)));
    picture_.add(
        fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.2\" fill=\"{}\"/>\n", *end - 2, to, arrow.color));
  }

  void draw_steps(std::uint32_t rank) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, int> marks;  // that there are already, by lane and time
    for (const TimedStep& timed : timeline_.ranks[rank]) {
      const std::optional<double> x = x_of(timed.begin);
      if (!x) continue;
      const Step& step = programs_.steps(rank, timed.lane)[timed.index];
      const double y = *y_of(rank) + timed.lane * kBand + (kBand - kBox) / 2;
      looks_.insert(look_of(step).word);
      picture_.add(fmt::format("<g><title>{}</title>", escaped(fmt::format("rank {}, lane {}, step {}: {}", rank,
                                                                           timed.lane, step.number, to_string(step)))));
      if (timed.end > timed.begin) {
        draw_box(step, *x, y);
      } else {
        // Steps that take no time lie side by side before the box, as far as there is room.
        const int before = std::min(marks[{timed.lane, timed.begin}]++, 3);
        draw_shape(step, *x - kArrows + 2 + before * (kMark + 0.5), y, kMark);
      }
      picture_.add("</g>\n");
    }
  }

  void draw_shape(const Step& step, double x, double y, double width) {
    if (step.completes) has_complete_ = true;
    picture_.add(
        fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{}\" rx=\"2.5\" fill=\"{}\"{}/>", x, y,
                    width, kBox, look_of(step).fill, step.completes ? " stroke=\"#222222\" stroke-width=\"1.6\"" : ""));
  }

  void draw_box(const Step& step, double x, double y) {
    draw_shape(step, x, y, box_width_);
    const std::string_view color = &look_of(step) == &kFold ? "#ffffff" : "#222222";
    const std::string partners = partners_of(step);
    const double middle = x + box_width_ / 2;
    picture_.text(middle, y + (partners.empty() ? 19 : 12), report::shortened_to(pieces_of(step), box_width_),
                  {.anchor = "middle", .color = color});
    if (!partners.empty())
      picture_.text(middle, y + 25, report::shortened_to(partners, box_width_, kRanksSize),
                    {.anchor = "middle", .size = kRanksSize, .color = color});
  }

  // Of what occurs.
  void draw_legend(double y) {
    double x = kLeft;
    const auto name = [&](std::string_view word) {
      picture_.text(x + 19, y, word);
      x += 19 + width_of_words(word) + 22;
    };
    picture_.add("<g class=\"key\">\n");
    for (const Look* look : {&kFold, &kMove, &kCopy, &kPost, &kWait}) {
      if (!looks_.contains(look->word)) continue;
      picture_.add(fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"12\" height=\"12\" rx=\"2\" fill=\"{}\"/>\n", x,
                               y - 10, look->fill));
      name(look->word);
    }
    if (has_complete_) {
      picture_.add(
          fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"12\" height=\"12\" rx=\"2\" fill=\"none\" "
                      "stroke=\"#222222\" stroke-width=\"1.6\"/>\n",
                      x, y - 10));
      name("completes the result");
    }
    for (const Arrow& arrow : kArrowsOf) {
      if (!arrows_.contains(arrow.word)) continue;
      picture_.line(x, y - 4, x + 14, y - 4, arrow.color, 2);
      name(arrow.word);
    }
    picture_.add("</g>\n");
  }

  const Programs& programs_;
  Timeline timeline_;
  double rank_height_;
  double box_width_ = 0;
  std::vector<ShownColumns> columns_;
  std::vector<double> x_of_unit_;  // the left of its boxes; not a number where it is left out
  std::vector<double> y_of_rank_;  // likewise
  std::uint32_t left_out_ranks_ = 0;
  double y_of_left_out_ranks_ = 0;
  double width_ = 0;
  double bottom_ = 0;
  report::Picture picture_;
  // What occurs, for the legend.
  std::set<std::string_view> looks_;
  std::set<std::string_view> arrows_;
  bool has_complete_ = false;
};

}  // namespace

std::string schedule_to_svg(const Programs& programs) { return Drawing(programs).draw(); }

}  // namespace tutti::report
