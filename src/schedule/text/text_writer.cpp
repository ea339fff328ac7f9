// SPDX-License-Identifier: Apache-2.0
// Writing the text form of schedules. Every step takes its short form where that says all of it, else the general one.
#include <algorithm>
#include <iterator>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/assert.hpp"
#include "base/text.hpp"
#include "schedule/text/text_form.hpp"
#include "schedule/text/text_step.hpp"

namespace tutti {

namespace {

using Out = std::back_insert_iterator<std::string>;

// A name as it stands where that is read back the same, else in quotes.
std::string written_name(std::string_view name) {
  const bool plain = !name.empty() && trim(name) == name && name.front() != '"' &&
                     name.find('#') == std::string_view::npos && printable(name) == name;
  if (plain) return std::string(name);
  std::string quoted = "\"";
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (byte < 0x20 || byte >= 0x7F) {
      fmt::format_to(Out(quoted), "\\x{:02x}", byte);
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

class Writer {
 public:
  explicit Writer(const Schedule& schedule) : schedule_(schedule) {}

  std::string write() {
    write_settings();
    for (rank_ = 0; rank_ < schedule_.num_ranks; ++rank_) {
      line("\nrank {}\n", rank_);
      for (std::uint32_t lane = 0; lane < schedule_.num_lanes; ++lane) write_lane(lane);
    }
    return std::move(text_);
  }

 private:
  template <typename... Arguments>
  void line(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(Out(text_), format, std::forward<Arguments>(arguments)...);
  }

  void write_settings() {
    const std::uint32_t pieces = schedule_.division(Space::input).pieces;
    const std::uint32_t scratch = schedule_.division(Space::scratch).blocks;
    const Spaces spaces = spaces_of(schedule_.collective, schedule_.num_ranks, pieces, scratch);
    for (std::size_t space = 0; space < kNumSpaces; ++space) {
      const Division& division = schedule_.spaces[space];
      TUTTI_ASSERT(division.blocks == spaces[space].blocks && (division.blocks == 0 || division.pieces == pieces),
                   "a schedule is divided as its collective is");
    }
    line("tutti schedule {}\n", kScheduleTextVersion);
    line("name {}\n", written_name(schedule_.name));
    line("collective {}\n", name_of(schedule_.collective));
    line("ranks {}\n", schedule_.num_ranks);
    if (schedule_.root != 0) line("root {}\n", schedule_.root);
    line("order {}\n", name_of(schedule_.order));
    if (pieces != 1) line("pieces {}\n", pieces);
    if (schedule_.num_lanes != 1) line("lanes {}\n", schedule_.num_lanes);
    if (scratch != 0) line("scratch {}\n", scratch);
    if (!schedule_.allows_in_place) line("in_place no\n");
    if (!schedule_.allows_out_of_place) line("out_of_place no\n");
  }

  void write_lane(std::uint32_t lane) {
    Walk walk = schedule_.walk(rank_, lane);
    const Step* step = walk.next();
    if (step == nullptr) return;
    if (schedule_.num_lanes > 1) line("  lane {}\n", lane);
    next_post_ = 0;
    for (std::uint32_t number = 0; step != nullptr; step = walk.next(), ++number) {
      TUTTI_ASSERT(step->number == number, "steps of a lane count from 0");
      line("{}", schedule_.num_lanes > 1 ? "    " : "  ");
      write_step(*step);
      if (step->completes) line(" completes");
      if (step->gives_up_source) line(" away");
      for (const After& after : step->after) line(" after lane {} step {}", after.lane, after.step);
      line("\n");
    }
  }

  void write_step(const Step& step) {
    switch (step.kind) {
      case StepKind::combine: return write_combine(step);
      case StepKind::expose:
      case StepKind::open:
      case StepKind::signal: return write_post(step);
      case StepKind::wait: return write_wait(step);
      case StepKind::close: return line("close");
    }
  }

  void write_post(const Step& step) {
    TUTTI_ASSERT(step.post == next_post_, "posts of a lane count from 0");
    ++next_post_;
    line("{}", name_of(step));
    if (step.kind != StepKind::signal) {
      TUTTI_ASSERT(step.sources.size() == 1 && step.sources[0].place == Place::local,
                   "a rank posts a slice of its own");
      line(" {}", to_string(step.sources[0].slice));
    }
    line(" as post {}", step.post);
  }

  void write_wait(const Step& step) {
    std::vector<std::uint32_t> others;
    for (std::uint32_t rank = 0; rank < schedule_.num_ranks; ++rank)
      if (rank != rank_) others.push_back(rank);
    line("wait for post {} of ", step.post);
    if (step.peers == others) return line("others");
    TUTTI_ASSERT(!step.peers.empty(), "a wait is for somebody");
    line("{}", fmt::join(step.peers, ", "));
  }

  void write_combine(const Step& step) {
    TUTTI_ASSERT(!step.sources.empty() && !step.destinations.empty(), "a step has sources and destinations");
    const Endpoint& source = step.sources[0];
    const Endpoint& destination = step.destinations[0];
    const bool is_single = step.sources.size() == 1 && step.destinations.size() == 1 &&
                           source.slice == destination.slice && source.channel == 0 && destination.channel == 0;
    if (is_single && source.place == Place::local && destination.place == Place::message)
      return line("send {} to {}", to_string(source.slice), destination.rank);
    if (is_single && source.place == Place::message && destination.place == Place::local)
      return line("recv {} from {}", to_string(destination.slice), source.rank);
    line("{} ", name_of(step));
    write_ends(step.destinations, ", ", implied_slice(step.destinations, step.sources));
    line(" = ");
    write_ends(step.sources, " + ", implied_slice(step.sources, step.destinations));
  }

  void write_ends(const std::vector<Endpoint>& ends, std::string_view separator, const std::optional<Slice>& implied) {
    for (std::size_t i = 0; i < ends.size(); ++i) {
      if (i > 0) line("{}", separator);
      write_end(ends[i], implied);
    }
  }

  void write_end(const Endpoint& end, const std::optional<Slice>& implied) {
    const std::string slice = to_string(end.slice);
    switch (end.place) {
      case Place::local: return line("{}", slice);
      case Place::message:
        line("message({}", end.rank);
        if (end.channel != 0) line(", channel {}", end.channel);
        return implied == end.slice ? line(")") : line(", {})", slice);
      case Place::remote: return line("rank {} {} (post {})", end.rank, slice, end.post);
      case Place::multicast: return line("all ranks' {} (post {})", slice, end.post);
    }
  }

  const Schedule& schedule_;
  std::string text_;
  std::uint32_t rank_ = 0;
  std::uint32_t next_post_ = 0;
};

}  // namespace

std::string write_schedule(const Schedule& schedule) { return Writer(schedule).write(); }

}  // namespace tutti
