// SPDX-License-Identifier: Apache-2.0
// Reading the text form of schedules: settings, then ranks, their lanes and steps. The first mistake ends it.
#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"
#include "schedule/listed.hpp"
#include "schedule/text/text_form.hpp"
#include "schedule/text/text_line.hpp"
#include "schedule/text/text_step.hpp"

namespace tutti {

namespace {

std::optional<OrderClass> find_order(std::string_view name) {
  for (const OrderClass order : {OrderClass::ordered, OrderClass::rank_order, OrderClass::uniform, OrderClass::free})
    if (same_name(name_of(order), name)) return order;
  return std::nullopt;
}

std::string known_collectives() {
  std::string names;
  for (int each = 0; each < kNumCollectives; ++each)
    names += fmt::format("{}{}", names.empty() ? "" : ", ", name_of(static_cast<Collective>(each)));
  return names;
}

class Reader {
 public:
  Reader(std::string_view text, std::string_view file) : rest_(text), file_(file) {
    header_.order = OrderClass::free;  // a text that says nothing promises nothing
  }

  Result<Schedule> read() {
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
    if (rest_.size() > schedule_text::kMostBytes) {
      return Status(Code::invalid_argument, fmt::format("{}: found {} bytes, expected {} at most", file_, rest_.size(),
                                                        schedule_text::kMostBytes));
    }
    if (rest_.starts_with(kByteOrderMark)) rest_.remove_prefix(kByteOrderMark.size());
    while (!rest_.empty())
      if (!next_line() || !read_line()) return error();
    if (!read_end()) return error();
    return listed(std::move(header_), std::move(programs_));
  }

 private:
  enum class Part : std::uint8_t { version, settings, steps };
  struct Setting {
    std::string_view name;
    bool (Reader::*read)();
    bool required = false;
  };
  struct Numbers {
    std::uint32_t least = 0;
    std::uint32_t most = 0;
  };
  static constexpr std::size_t kNumSettings = 10;
  static const std::array<Setting, kNumSettings> kSettings;

  // --- lines

  // Takes the next line off the text, and looks at what no line may hold.
  bool next_line() {
    ++line_number_;
    const std::size_t end = std::min(rest_.find('\n'), rest_.size());
    std::string_view line = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    line_length_ = line.size();
    if (line.size() > schedule_text::kMostLineBytes)
      return fail_at(
          1, fmt::format("found a line of {} bytes, expected {} at most", line.size(), schedule_text::kMostLineBytes));
    if (const std::size_t at = first_invalid_utf8(line); at != std::string_view::npos)
      return fail_at(at + 1, fmt::format("found {}, expected UTF-8 text", in_quotes(line.substr(at, 1))));
    const auto control = std::find_if(line.begin(), line.end(), [](char c) {
      return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7F;
    });
    if (control != line.end()) {
      const auto at = static_cast<std::size_t>(control - line.begin());
      return fail_at(at + 1, fmt::format("found {}, expected no control characters", in_quotes(line.substr(at, 1))));
    }
    line_ = TextLine(line);
    return true;
  }

  bool read_line() {
    if (line_.at_end()) return true;
    switch (part_) {
      case Part::version: return read_version();
      case Part::settings: return line_.next().is("rank") ? end_settings() && begin_rank() : read_setting();
      case Part::steps: break;
    }
    if (line_.next().is("rank")) return begin_rank();
    return line_.next().is("lane") ? begin_lane() : read_step();
  }

  bool read_version() {
    const std::string due = fmt::format("tutti schedule {}", kScheduleTextVersion);
    if (!line_.take_if("tutti") || !line_.take_if("schedule"))
      return fail(line_.next(), fmt::format("the first line of a schedule, {}", in_quotes(due)));
    const Token version = line_.take();
    if (number_below(version, kScheduleTextVersion + 1) != kScheduleTextVersion)
      return fail(version, fmt::format("{}, the version that is read here", kScheduleTextVersion));
    part_ = Part::settings;
    return end_of_line();
  }

  bool read_end() {
    const auto fail_here = [this](std::string_view expected) {
      line_number_ = std::max<std::uint64_t>(line_number_, 1);
      return fail_at(line_length_ + 1, fmt::format("found the end of the file, expected {}", expected));
    };
    if (part_ == Part::version) return fail_here(fmt::format("'tutti schedule {}'", kScheduleTextVersion));
    if (part_ == Part::settings)
      return fail_here(missing_setting().empty() ? "'rank 0'" : fmt::format("the setting {}", missing_setting()));
    if (programs_.size() < header_.num_ranks) return fail_here(fmt::format("'rank {}'", programs_.size()));
    return true;
  }

  // --- settings

  bool read_setting() {
    const Token name = line_.take();
    const auto setting =
        std::find_if(kSettings.begin(), kSettings.end(), [&](const Setting& row) { return name.is(row.name); });
    if (setting == kSettings.end()) {
      std::string names;
      for (const Setting& row : kSettings) names += fmt::format("{}, ", row.name);
      return fail(name, fmt::format("a setting ({}) or 'rank 0'", names.substr(0, names.size() - 2)));
    }
    std::uint64_t& seen = seen_[static_cast<std::size_t>(setting - kSettings.begin())];
    if (seen != 0) return fail(name, fmt::format("it once; line {} has it already", seen));
    seen = line_number_;
    return (this->*setting->read)() && end_of_line();
  }

  bool read_name() {
    if (!line_.next().is("\"")) {
      const std::string_view rest = line_.rest();
      header_.name = trim(rest.substr(0, rest.find('#')));
      if (header_.name.empty()) return fail(line_.next(), "a name");
      line_ = TextLine();
      return true;
    }
    return read_quoted_name(line_.next().column, line_.rest());
  }

  bool read_quoted_name(std::uint64_t column, std::string_view text) {
    std::size_t at = 1;
    for (; at < text.size() && text[at] != '"'; ++at) {
      if (text[at] != '\\') {
        header_.name += text[at];
        continue;
      }
      const std::string_view escaped = text.substr(at + 1, 3);
      unsigned byte = 0;
      if (escaped.starts_with('"') || escaped.starts_with('\\')) {
        header_.name += escaped[0];
        at += 1;
      } else if (hexadecimal(escaped, byte)) {
        header_.name += static_cast<char>(byte);
        at += 3;
      } else {
        return fail_at(column + at, R"(found '\', expected \", \\ or \x and two hexadecimal digits)");
      }
    }
    if (at == text.size()) return fail_at(column + at, "found the end of the line, expected '\"'");
    const std::size_t behind = std::min(text.find_first_not_of(" \t", at + 1), text.size());
    if (behind < text.size() && text[behind] != '#')
      return fail_at(column + behind,
                     fmt::format("found {}, expected the end of the line", in_quotes(text.substr(behind))));
    line_ = TextLine();
    return true;
  }

  static bool hexadecimal(std::string_view escaped, unsigned& byte) {
    if (escaped.size() != 3 || escaped[0] != 'x') return false;
    const auto [stop, wrong] = std::from_chars(escaped.data() + 1, escaped.data() + 3, byte, 16);
    return wrong == std::errc() && stop == escaped.data() + 3;
  }

  bool read_collective() {
    const Token token = line_.take();
    const std::optional<Collective> collective = find_collective(token.text);
    if (!collective) return fail(token, fmt::format("a collective: {}", known_collectives()));
    header_.collective = *collective;
    return true;
  }

  bool read_order() {
    const Token token = line_.take();
    const std::optional<OrderClass> order = find_order(token.text);
    if (!order) return fail(token, "an order class: ordered, rank_order, uniform or free");
    header_.order = *order;
    return true;
  }

  bool read_ranks() { return read_number({1, schedule_text::kMostRanks}, header_.num_ranks); }
  bool read_root() {
    root_ = line_.next();
    root_line_ = line_number_;
    return read_number({0, schedule_text::kMostRanks - 1}, header_.root);
  }
  bool read_pieces() { return read_number({1, schedule_text::kMostPieces}, pieces_); }
  bool read_lanes() { return read_number({1, schedule_text::kMostLanes}, header_.num_lanes); }
  bool read_scratch() { return read_number({0, schedule_text::kMostScratch}, scratch_); }
  bool read_in_place() { return read_yes_or_no(header_.allows_in_place); }
  bool read_out_of_place() { return read_yes_or_no(header_.allows_out_of_place); }

  bool read_number(const Numbers& allowed, std::uint32_t& number) {
    const Token token = line_.take();
    const std::optional<std::uint32_t> read = number_below(token, std::uint64_t{allowed.most} + 1);
    if (!read || *read < allowed.least)
      return fail(token, fmt::format("a number from {} to {}", allowed.least, allowed.most));
    number = *read;
    return true;
  }

  bool read_yes_or_no(bool& flag) {
    const Token token = line_.take();
    if (!token.is("yes") && !token.is("no")) return fail(token, "'yes' or 'no'");
    flag = token.is("yes");
    return true;
  }

  // The first that is required and has not been seen; empty where there is none.
  [[nodiscard]] std::string missing_setting() const {
    for (std::size_t i = 0; i < kSettings.size(); ++i)
      if (kSettings[i].required && seen_[i] == 0) return in_quotes(kSettings[i].name);
    return {};
  }

  // At the first rank: whether the settings fit each other.
  bool end_settings() {
    if (const std::string missing = missing_setting(); !missing.empty())
      return fail(line_.next(), fmt::format("the setting {} before it", missing));
    if (header_.root >= header_.num_ranks) {
      line_number_ = root_line_;
      return fail(root_, fmt::format("a rank from 0 to {}", header_.num_ranks - 1));
    }
    header_.spaces = spaces_of(header_.collective, header_.num_ranks, pieces_, scratch_);
    std::uint64_t blocks = 0;
    for (const Division& division : header_.spaces) blocks += division.blocks;
    const std::uint64_t all = blocks * header_.num_ranks * pieces_;
    if (all > schedule_text::kMostDivision)
      return fail_at(1, fmt::format("found {} ranks with {} blocks of {} pieces, expected {} pieces in all at most",
                                    header_.num_ranks, blocks, pieces_, schedule_text::kMostDivision));
    part_ = Part::steps;
    return true;
  }

  // --- ranks, lanes, steps

  bool begin_rank() {
    line_.take();
    const Token number = line_.take();
    if (programs_.size() == header_.num_ranks)
      return fail(number, fmt::format("no more than the {} ranks that there are", header_.num_ranks));
    if (number_below(number, schedule_text::kMostRanks) != programs_.size())
      return fail(number, fmt::format("{}: ranks stand in their order, each once", programs_.size()));
    programs_.emplace_back().lanes.resize(header_.num_lanes);
    lane_ = 0;
    is_lane_begun_ = false;
    next_post_ = 0;
    return end_of_line();
  }

  bool begin_lane() {
    line_.take();
    const Token token = line_.take();
    const std::optional<std::uint32_t> lane = number_below(token, header_.num_lanes);
    const std::uint32_t least = is_lane_begun_ ? lane_ + 1 : 0;
    if (least == header_.num_lanes)
      return fail(token, fmt::format("no more than the {} lanes that there are", header_.num_lanes));
    if (!lane || *lane < least)
      return fail(token, fmt::format("a lane from {} to {}; lanes stand in their order, each once", least,
                                     header_.num_lanes - 1));
    lane_ = *lane;
    is_lane_begun_ = true;
    next_post_ = 0;
    return end_of_line();
  }

  bool read_step() {
    is_lane_begun_ = true;
    std::vector<Step>& steps = programs_.back().lanes[lane_];
    const auto rank = static_cast<std::uint32_t>(programs_.size()) - 1;
    std::optional<Step> step = steps_.read(line_, rank, next_post_);
    if (!step) return fail_at(steps_.problem().column, steps_.problem().what);
    if (++num_steps_ > schedule_text::kMostSteps)
      return fail_at(1, fmt::format("found one more step, expected {} at most", schedule_text::kMostSteps));
    num_ends_ += step->sources.size() + step->destinations.size() + step->peers.size() + step->after.size();
    if (num_ends_ > schedule_text::kMostEnds)
      return fail_at(1, fmt::format("found {} sources, destinations and ranks so far, expected {} at most", num_ends_,
                                    schedule_text::kMostEnds));
    if (is_post(*step)) ++next_post_;
    step->number = static_cast<std::uint32_t>(steps.size());
    steps.push_back(std::move(*step));
    return true;
  }

  // --- mistakes

  bool end_of_line() { return line_.at_end() || fail(line_.next(), "the end of the line"); }
  bool fail(const Token& token, std::string_view expected) {
    return fail_at(token.column, fmt::format("found {}, expected {}", token.found(), expected));
  }
  bool fail_at(std::uint64_t column, std::string_view what) {
    error_ = fmt::format("{}:{}:{}: {}", file_, line_number_, column, what);
    return false;
  }
  [[nodiscard]] Status error() const { return {Code::invalid_argument, error_}; }

  std::string_view rest_;
  std::string_view file_;
  std::uint64_t line_number_ = 0;
  std::uint64_t line_length_ = 0;
  TextLine line_;
  Part part_ = Part::version;
  std::array<std::uint64_t, kNumSettings> seen_{};  // the line of each setting; 0: none
  Token root_;
  std::uint64_t root_line_ = 0;
  std::uint32_t pieces_ = 1;
  std::uint32_t scratch_ = 0;
  Schedule header_;
  StepReader steps_{header_};
  std::vector<Program> programs_;
  std::uint32_t lane_ = 0;
  bool is_lane_begun_ = false;  // its line or a step of it has been read
  std::uint32_t next_post_ = 0;
  std::uint64_t num_steps_ = 0;
  std::uint64_t num_ends_ = 0;
  std::string error_;
};

const std::array<Reader::Setting, Reader::kNumSettings> Reader::kSettings = {{
    {"name", &Reader::read_name, true},
    {"collective", &Reader::read_collective, true},
    {"ranks", &Reader::read_ranks, true},
    {"root", &Reader::read_root},
    {"order", &Reader::read_order},
    {"pieces", &Reader::read_pieces},
    {"lanes", &Reader::read_lanes},
    {"scratch", &Reader::read_scratch},
    {"in_place", &Reader::read_in_place},
    {"out_of_place", &Reader::read_out_of_place},
}};

}  // namespace

Result<Schedule> read_schedule(std::string_view text, std::string_view file_name) {
  return Reader(text, file_name).read();
}

}  // namespace tutti
