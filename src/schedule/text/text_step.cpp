// SPDX-License-Identifier: Apache-2.0
#include "schedule/text/text_step.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

#include "base/text.hpp"
#include "schedule/ends.hpp"
#include "schedule/text/text_form.hpp"

namespace tutti {

namespace {

constexpr std::uint64_t kAnyNumber = std::uint64_t{1} << 32;

// In the order of Space.
constexpr std::array<std::string_view, kNumSpaces> kBlocks = {"a block of input", "a block of output",
                                                              "a block of scratch"};

bool is_message(const Endpoint& end) { return end.place == Place::message; }

// Whether the name is made of the words that name_of(Step) makes names of, in whatever order.
bool may_name_a_combine(std::string_view name) {
  constexpr std::array<std::string_view, 7> kParts = {"copy", "multicast", "pull", "push", "recv", "reduce", "send"};
  if (same_name(name, "combine")) return true;
  while (!name.empty()) {
    const std::size_t end = std::min(name.find_first_of("_-"), name.size());
    const auto is_it = [&](std::string_view part) { return same_name(part, name.substr(0, end)); };
    if (std::none_of(kParts.begin(), kParts.end(), is_it)) return false;
    name.remove_prefix(std::min(end + 1, name.size()));
  }
  return true;
}

}  // namespace

std::optional<Slice> implied_slice(const std::vector<Endpoint>& side, const std::vector<Endpoint>& other) {
  for (const auto* ends : {&side, &other}) {
    const auto found = std::find_if_not(ends->begin(), ends->end(), is_message);
    if (found != ends->end()) return found->slice;
  }
  return std::nullopt;
}

std::optional<std::uint32_t> number_below(const Token& token, std::uint64_t end) {
  std::uint32_t number = 0;
  if (token.kind != Token::Kind::number) return std::nullopt;
  const char* last = token.text.data() + token.text.size();
  const auto [stop, error] = std::from_chars(token.text.data(), last, number);
  if (error != std::errc() || stop != last || number >= end) return std::nullopt;
  return number;
}

std::optional<Step> StepReader::read(TextLine& line, std::uint32_t rank, std::uint32_t due_post) {
  rank_ = rank;
  step_ = Step{};
  bare_.clear();
  if (!read_step(line, due_post) || !read_attributes(line)) return std::nullopt;
  return std::move(step_);
}

bool StepReader::read_step(TextLine& line, std::uint32_t due_post) {
  constexpr std::array<std::pair<std::string_view, StepKind>, 5> kOrdering = {{{"expose", StepKind::expose},
                                                                               {"open", StepKind::open},
                                                                               {"signal", StepKind::signal},
                                                                               {"wait", StepKind::wait},
                                                                               {"close", StepKind::close}}};
  const Token name = line.take();
  const auto found =
      std::find_if(kOrdering.begin(), kOrdering.end(), [&](const auto& row) { return name.is(row.first); });
  if (found == kOrdering.end()) return read_combine(line, name);
  step_.kind = found->second;
  if (step_.kind == StepKind::close) return true;
  return step_.kind == StepKind::wait ? read_wait(line) : read_post(line, due_post);
}

bool StepReader::read_post(TextLine& line, std::uint32_t due_post) {
  step_.post = due_post;
  if (step_.kind != StepKind::signal) {
    step_.sources.emplace_back();
    if (!read_slice(line, step_.sources[0].slice)) return false;
  }
  if (!line.take_if("as")) return true;
  if (!expect(line, "post", "behind 'as'")) return false;
  const Token token = line.take();
  if (number_below(token, kAnyNumber) == due_post) return true;
  return fail(token, fmt::format("{}: posts of a rank stand in one lane and count from 0", due_post));
}

bool StepReader::read_wait(TextLine& line) {
  if (!expect(line, "for", "behind 'wait'") || !expect(line, "post", "behind 'for'")) return false;
  if (!read_number(line, {kAnyNumber, "the number of a post"}, step_.post)) return false;
  if (!expect(line, "of", "behind the post")) return false;
  if (line.take_if("others")) {
    for (std::uint32_t rank = 0; rank < header_.num_ranks; ++rank)
      if (rank != rank_) step_.peers.push_back(rank);
    return true;
  }
  do {
    if (step_.peers.size() == schedule_text::kMostRanks) return fail(line.next(), "no more ranks than there are");
    if (!read_number(line, {header_.num_ranks, "a rank"}, step_.peers.emplace_back())) return false;
  } while (line.take_if(","));
  return true;
}

bool StepReader::read_combine(TextLine& line, const Token& name) {
  if (name.kind != Token::Kind::word || !may_name_a_combine(name.text)) {
    return fail(name,
                "a step (send, recv, recv_reduce, copy, reduce, expose, open, signal, wait, close, pull, pull_reduce, "
                "push, multicast, combine ...), 'lane' or 'rank'");
  }
  if (!read_ends(line, step_.destinations, ",")) return false;
  const bool is_short = same_name(name.text, "send") || same_name(name.text, "recv");
  if (is_short && !line.next().is("=")) {
    const std::string_view word = same_name(name.text, "send") ? "to" : "from";
    const bool is_slice = step_.destinations.size() == 1 && step_.destinations[0].place == Place::local;
    if (!is_slice || !line.next().is(word))
      return fail(line.next(), fmt::format("{}'='", is_slice ? fmt::format("'{}' or ", word) : ""));
    return read_short(line);
  }
  if (!expect(line, "=", "behind the destinations")) return false;
  return read_ends(line, step_.sources, "+") && fill_bare() && check_name(name);
}

// "send SLICE to RANK" and "recv SLICE from RANK", from the word on. The slice stands among the destinations.
bool StepReader::read_short(TextLine& line) {
  const bool sends = line.take().is("to");
  Endpoint message = message_end(0, step_.destinations[0].slice);
  if (!read_number(line, {header_.num_ranks, "a rank"}, message.rank)) return false;
  step_.sources.push_back(message);
  if (sends) step_.sources.swap(step_.destinations);
  return true;
}

bool StepReader::check_name(const Token& name) {
  const std::string due = name_of(step_);
  if (same_name(name.text, due) || same_name(name.text, "combine")) return true;
  return fail(name, fmt::format("{} or 'combine' in front of these ends", in_quotes(due)));
}

bool StepReader::read_ends(TextLine& line, std::vector<Endpoint>& ends, std::string_view separator) {
  do {
    if (ends.size() == schedule_text::kMostEndsOfStep)
      return fail(line.next(), fmt::format("no more than {} of them", schedule_text::kMostEndsOfStep));
    if (!read_end(line, ends)) return false;
  } while (line.take_if(separator));
  return true;
}

bool StepReader::read_end(TextLine& line, std::vector<Endpoint>& ends) {
  Endpoint end;
  const Token token = line.next();
  if (line.take_if("message")) {
    if (!read_message(line, end, token, ends)) return false;
  } else if (line.take_if("rank")) {
    end.place = Place::remote;
    if (!read_number(line, {header_.num_ranks, "a rank"}, end.rank) || !read_slice(line, end.slice)) return false;
    if (!read_post_in_brackets(line, end)) return false;
  } else if (line.take_if("all")) {
    end.place = Place::multicast;
    if (!expect(line, "ranks'", "behind 'all'") || !read_slice(line, end.slice)) return false;
    if (!read_post_in_brackets(line, end)) return false;
  } else if (std::find(kSpaceNames.begin(), kSpaceNames.end(), token.text) == kSpaceNames.end()) {
    return fail(token,
                "a slice such as input[0.0], message(RANK), rank RANK SLICE (post NUMBER) or all ranks' SLICE "
                "(post NUMBER)");
  } else if (!read_slice(line, end.slice)) {
    return false;
  }
  ends.push_back(end);
  return true;
}

bool StepReader::read_message(TextLine& line, Endpoint& end, const Token& token, std::vector<Endpoint>& ends) {
  end.place = Place::message;
  if (!expect(line, "(", "behind 'message'")) return false;
  if (!read_number(line, {header_.num_ranks, "a rank"}, end.rank)) return false;
  bool goes_on = line.take_if(",");
  if (goes_on && line.take_if("channel")) {
    if (!read_number(line, {kMostChannels, "a channel"}, end.channel)) return false;
    goes_on = line.take_if(",");
  }
  if (goes_on) {
    if (!read_slice(line, end.slice)) return false;
  } else {
    bare_.push_back({&ends, ends.size(), token});
  }
  return expect(line, ")", "at the end of the message");
}

bool StepReader::read_post_in_brackets(TextLine& line, Endpoint& end) {
  return expect(line, "(", "and 'post NUMBER)': what permits it") && expect(line, "post", "behind '('") &&
         read_number(line, {kAnyNumber, "the number of a post"}, end.post) && expect(line, ")", "behind the post");
}

bool StepReader::read_slice(TextLine& line, Slice& slice) {
  const Token space = line.take();
  const auto found = std::find(kSpaceNames.begin(), kSpaceNames.end(), space.text);
  if (found == kSpaceNames.end()) return fail(space, "a slice of input, output or scratch, such as input[0.0]");
  slice.space = static_cast<Space>(found - kSpaceNames.begin());
  const Division& division = header_.division(slice.space);
  if (division.blocks == 0) {
    return fail(space, slice.space == Space::scratch
                           ? "another space: there is no scratch ('scratch NUMBER' sets some)"
                           : fmt::format("another space: {} has no {}", name_of(header_.collective), space.text));
  }
  slice.num_pieces = division.pieces;
  if (!line.take_if("[")) return true;
  const Bounds block{division.blocks, kBlocks[static_cast<std::size_t>(slice.space)]};
  const Token first = line.take();
  if (line.take_if("blocks")) {
    if (!read_token(first, {std::uint64_t{division.blocks} + 1, "how many blocks"}, slice.num_blocks)) return false;
    if (slice.num_blocks == 0) return fail(first, "how many blocks, at least 1");
    if (!expect(line, "from", "behind 'blocks'") || !read_number(line, block, slice.block)) return false;
  } else if (!read_token(first, block, slice.block)) {
    return false;
  }
  if (line.take_if(".") && !read_pieces(line, division, slice)) return false;
  if (slice.num_blocks > 1 && line.next().is(",") && !read_pattern(line, division, slice)) return false;
  return expect(line, "]", "at the end of the slice");
}

bool StepReader::read_pattern(TextLine& line, const Division& division, Slice& slice) {
  const Token token = line.take();
  if (!read_number(line, {division.blocks, "how many neighbours"}, slice.run)) return false;
  if (!expect(line, "every", "behind how many neighbours")) return false;
  if (!read_number(line, {division.blocks, "how far apart runs of neighbours are"}, slice.stride)) return false;
  if (slice.run == 0 || slice.run >= slice.num_blocks)
    return fail(token, fmt::format("runs of 1 to {} of the blocks", slice.num_blocks - 1));
  if (slice.stride <= slice.run) return fail(token, "runs that are farther apart than they are long");
  if (slice.reach() >= division.blocks)
    return fail(token, fmt::format("blocks that do not go around to the first: there are {}", division.blocks));
  return true;
}

bool StepReader::read_pieces(TextLine& line, const Division& division, Slice& slice) {
  if (!read_number(line, {division.pieces, "a piece"}, slice.first_piece)) return false;
  slice.num_pieces = 1;
  if (!line.take_if("-")) return true;
  const Token token = line.next();
  std::uint32_t last = 0;
  if (!read_number(line, {division.pieces, "the last piece"}, last)) return false;
  if (last < slice.first_piece)
    return fail(token, fmt::format("a last piece that is not below the first, {}", slice.first_piece));
  slice.num_pieces = last - slice.first_piece + 1;
  return true;
}

bool StepReader::fill_bare() {
  for (const Bare& bare : bare_) {
    std::vector<Endpoint>& other = bare.side == &step_.sources ? step_.destinations : step_.sources;
    const std::optional<Slice> slice = implied_slice(*bare.side, other);
    if (!slice)
      return fail(bare.token, "its slice as well, as in message(1, output[0.0]), where all ends are messages");
    (*bare.side)[bare.index].slice = *slice;
  }
  return true;
}

bool StepReader::read_attributes(TextLine& line) {
  while (!line.at_end()) {
    const Token token = line.take();
    if (token.is("completes") && !step_.completes) {
      step_.completes = true;
    } else if (token.is("away") && !step_.gives_up_source) {
      step_.gives_up_source = true;
    } else if (token.is("after")) {
      if (step_.after.size() == schedule_text::kMostAfters)
        return fail(token, fmt::format("no more than {} of them", schedule_text::kMostAfters));
      After& after = step_.after.emplace_back();
      if (!expect(line, "lane", "behind 'after'")) return false;
      if (!read_number(line, {header_.num_lanes, "a lane"}, after.lane)) return false;
      if (!expect(line, "step", "behind the lane")) return false;
      if (!read_number(line, {kAnyNumber, "the number of a step"}, after.step)) return false;
    } else {
      return fail(token, "the end of the step, or 'completes', 'away' (each once) or 'after lane NUMBER step NUMBER'");
    }
  }
  return true;
}

bool StepReader::read_number(TextLine& line, const Bounds& bounds, std::uint32_t& number) {
  return read_token(line.take(), bounds, number);
}

bool StepReader::read_token(const Token& token, const Bounds& bounds, std::uint32_t& number) {
  const std::optional<std::uint32_t> read = number_below(token, bounds.end);
  if (!read) return fail(token, fmt::format("{} from 0 to {}", bounds.what, bounds.end - 1));
  number = *read;
  return true;
}

bool StepReader::expect(TextLine& line, std::string_view symbol, std::string_view where) {
  if (line.take_if(symbol)) return true;
  return fail(line.next(), fmt::format("{} {}", in_quotes(symbol), where));
}

bool StepReader::fail(const Token& token, std::string_view expected) {
  problem_ = {token.column, fmt::format("found {}, expected {}", token.found(), expected)};
  return false;
}

}  // namespace tutti
