#include <algorithm>

#include <fmt/format.h>

#include "cli/schedule_views.hpp"
#include "report/svg.hpp"
#include "schedule/timeline.hpp"

namespace tutti::cli {

namespace {

using report::escaped;

constexpr double kLeft = 86;          // of the names of the ranks
constexpr double kTop = 66;           // of the title
constexpr double kUnit = 74;          // the width of a step that moves data
constexpr double kBand = 24;          // the height of a lane
constexpr double kBetweenRanks = 26;  // where arrows have room to be seen
constexpr double kBox = 16;
constexpr double kLegend = 56;

struct Look {
  std::string_view word;
  std::string_view fill;
};

// By what a step does to data; the legend has them in this order.
constexpr Look kFold = {"folds", "#4477aa"};
constexpr Look kMove = {"moves", "#8fb8de"};
constexpr Look kCopy = {"copies", "#c9d8e8"};
constexpr Look kPost = {"tells", "#ccbb44"};
constexpr Look kWait = {"waits", "#dddddd"};

const Look& look_of(const Step& step) {
  if (is_post(step)) return kPost;
  if (step.kind != StepKind::combine) return kWait;
  if (step.sources.size() > 1 || step.sources[0].place == Place::multicast) return kFold;
  const auto is_local = [](const Endpoint& end) { return end.place == Place::local; };
  const bool stays =
      is_local(step.sources[0]) && std::all_of(step.destinations.begin(), step.destinations.end(), is_local);
  return stays ? kCopy : kMove;
}

std::string_view color_of(TimedTransfer::Kind kind) {
  switch (kind) {
    case TimedTransfer::Kind::message: return "#aa3377";
    case TimedTransfer::Kind::read: return "#228833";
    case TimedTransfer::Kind::write: return "#ee6677";
    case TimedTransfer::Kind::wait: return "#bbbbbb";
  }
  return "#000000";
}

// The pieces that a step is about, short enough for its box.
std::string label_of(const Step& step) {
  if (step.sources.empty()) return "";
  const Slice& slice = step.sources[0].slice;
  const std::string pieces = slice.num_pieces == 1
                                 ? fmt::format("{}", slice.first_piece)
                                 : fmt::format("{}-{}", slice.first_piece, slice.first_piece + slice.num_pieces - 1);
  if (slice.num_blocks > 1) return fmt::format("{} from {}", slice.num_blocks, slice.block);
  return slice.block == 0 ? pieces : fmt::format("{}.{}", slice.block, pieces);
}

class Drawing {
 public:
  explicit Drawing(const Programs& programs)
      : programs_(programs), timeline_(timeline_of(programs)), rank_height_(programs.num_lanes() * kBand) {}

  std::string draw() {
    const double width = std::max(kLeft + timeline_.length * kUnit + 40, 780.0);
    const double height = kTop + programs_.num_ranks() * (rank_height_ + kBetweenRanks) + kLegend;
    out_ = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" "
        "height=\"{1:.0f}\" "
        "font-family=\"sans-serif\" font-size=\"11\">\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n",
        width, height);
    const Schedule& schedule = programs_.schedule();
    out_ += fmt::format("<text x=\"16\" y=\"26\" font-size=\"16\" fill=\"#222222\">{}</text>\n",
                        escaped(fmt::format("{} {}", name_of(schedule.collective), schedule.name)));
    out_ += fmt::format("<text x=\"16\" y=\"44\" fill=\"#666666\">{}</text>\n",
                        escaped(fmt::format("{} ranks, {} pieces a block; time to the right, one unit for every step "
                                            "that moves data; the number in a box is the piece",
                                            schedule.num_ranks, schedule.division(Space::input).pieces)));
    draw_ranks(width);
    for (const TimedTransfer& transfer : timeline_.transfers) draw_transfer(transfer);
    for (std::uint32_t rank = 0; rank < programs_.num_ranks(); ++rank)
      for (const TimedStep& step : timeline_.ranks[rank]) draw_step(rank, step);
    draw_legend(height - kLegend + 30);
    return out_ + "</svg>\n";
  }

 private:
  [[nodiscard]] double y_of(std::uint32_t rank) const { return kTop + rank * (rank_height_ + kBetweenRanks); }
  [[nodiscard]] static double x_of(double time) { return kLeft + time * kUnit; }

  void draw_ranks(double width) {
    for (std::uint32_t rank = 0; rank < programs_.num_ranks(); ++rank) {
      out_ += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"#f6f6f4\"/>\n",
                          kLeft - 4, y_of(rank), width - kLeft - 12, rank_height_);
      out_ += fmt::format("<text x=\"16\" y=\"{:.1f}\" fill=\"#222222\">rank {}</text>\n",
                          y_of(rank) + rank_height_ / 2 + 4, rank);
    }
  }

  void draw_transfer(const TimedTransfer& transfer) {
    // From the nearer edge of the one rank to the nearer edge of the other, so that arrows do not cross their own rows.
    const bool down = transfer.to_rank > transfer.from_rank;
    const double from = y_of(transfer.from_rank) + (down ? rank_height_ : 0);
    const double to = y_of(transfer.to_rank) + (down ? 0 : rank_height_);
    const double begin = x_of(transfer.begin) - 3;
    const double end = x_of(transfer.end) + 3;
    const std::string_view color = color_of(transfer.kind);
    const double opacity = transfer.kind == TimedTransfer::Kind::message ? 0.75 : 0.45;
    out_ += fmt::format(
        "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\" stroke-width=\"1.2\" "
        "stroke-opacity=\"{}\"{}/>\n",
        begin, from, end, to, color, opacity,
        transfer.kind == TimedTransfer::Kind::message ? "" : " stroke-dasharray=\"4 3\"");
    out_ += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.2\" fill=\"{}\"/>\n", end, to, color);
  }

  void draw_step(std::uint32_t rank, const TimedStep& timed) {
    const Step& step = programs_.steps(rank, timed.lane)[timed.index];
    const double y = y_of(rank) + timed.lane * kBand + (kBand - kBox) / 2;
    const double x = x_of(timed.begin);
    const bool moves = timed.end > timed.begin;
    const double width = moves ? (timed.end - timed.begin) * kUnit - 5 : 6;
    const Look& look = look_of(step);
    out_ += fmt::format("<g><title>{}</title>", escaped(fmt::format("rank {}, lane {}, step {}: {}", rank, timed.lane,
                                                                    step.number, to_string(step))));
    out_ += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{}\" rx=\"2.5\" fill=\"{}\"{}/>",
                        moves ? x + 2.5 : x - 3, y, width, kBox, look.fill,
                        step.completes ? " stroke=\"#222222\" stroke-width=\"1.2\"" : "");
    if (moves) {
      out_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\" fill=\"{}\">{}</text>", x + kUnit / 2,
                          y + kBox - 4, &look == &kFold ? "#ffffff" : "#222222", label_of(step));
    }
    out_ += "</g>\n";
  }

  void draw_legend(double y) {
    double x = kLeft;
    for (const Look* look : {&kFold, &kMove, &kCopy, &kPost, &kWait}) {
      out_ += fmt::format(
          "<rect x=\"{0:.1f}\" y=\"{1:.1f}\" width=\"12\" height=\"12\" rx=\"2\" fill=\"{2}\"/>"
          "<text x=\"{3:.1f}\" y=\"{4:.1f}\" fill=\"#444444\">{5}</text>\n",
          x, y - 10, look->fill, x + 17, y, look->word);
      x += 68;
    }
    constexpr std::pair<TimedTransfer::Kind, std::string_view> kTransfers[] = {
        {TimedTransfer::Kind::message, "message"},
        {TimedTransfer::Kind::read, "read"},
        {TimedTransfer::Kind::write, "write"},
        {TimedTransfer::Kind::wait, "wait"}};
    for (const auto& [kind, word] : kTransfers) {
      out_ += fmt::format(
          "<line x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{2:.1f}\" y2=\"{1:.1f}\" stroke=\"{3}\" stroke-width=\"2\"/>"
          "<text x=\"{4:.1f}\" y=\"{5:.1f}\" fill=\"#444444\">{6}</text>\n",
          x, y - 4, x + 14, color_of(kind), x + 19, y, word);
      x += 84;
    }
  }

  const Programs& programs_;
  Timeline timeline_;
  double rank_height_;
  std::string out_;
};

}  // namespace

std::string schedule_to_svg(const Programs& programs) { return Drawing(programs).draw(); }

}  // namespace tutti::cli
