// SPDX-License-Identifier: Apache-2.0
// A step of the text form of schedules: reading one from its line. Internal to the text form.
//
// Borrows the schedule's header; one thread at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "schedule/schedule.hpp"
#include "schedule/text/text_line.hpp"

namespace tutti {

// What is wrong with a line, and where.
struct TextProblem {
  std::uint64_t column = 1;
  std::string what;  // "found X, expected Y"
};

// The slice that a message has which does not say its own: that of the first end on its side of the step that is no
// message, else of the first on the other side. None where all ends are messages.
[[nodiscard]] std::optional<Slice> implied_slice(const std::vector<Endpoint>& side, const std::vector<Endpoint>& other);

class StepReader {
 public:
  explicit StepReader(const Schedule& header) : header_(header) {}

  // The step on the line, but for its number. `rank` is whose program it is in, `due_post` the number that the next
  // post of its lane has. Nothing where the line is wrong: problem() then says how.
  [[nodiscard]] std::optional<Step> read(TextLine& line, std::uint32_t rank, std::uint32_t due_post);

  [[nodiscard]] const TextProblem& problem() const { return problem_; }

 private:
  struct Bounds {
    std::uint64_t end = 0;  // one more than the greatest number that is right
    std::string_view what;  // "a rank"
  };
  // A message whose slice follows from the step's other ends.
  struct Bare {
    std::vector<Endpoint>* side = nullptr;
    std::size_t index = 0;
    Token token;
  };

  bool read_step(TextLine& line, std::uint32_t due_post);
  bool read_post(TextLine& line, std::uint32_t due_post);
  bool read_wait(TextLine& line);
  bool read_combine(TextLine& line, const Token& name);
  bool read_short(TextLine& line);
  bool check_name(const Token& name);
  bool read_ends(TextLine& line, std::vector<Endpoint>& ends, std::string_view separator);
  bool read_end(TextLine& line, std::vector<Endpoint>& ends);
  bool read_message(TextLine& line, Endpoint& end, const Token& token, std::vector<Endpoint>& ends);
  bool read_post_in_brackets(TextLine& line, Endpoint& end);
  bool read_slice(TextLine& line, Slice& slice);
  bool read_pattern(TextLine& line, const Division& division, Slice& slice);
  bool read_pieces(TextLine& line, const Division& division, Slice& slice);
  bool read_attributes(TextLine& line);
  bool fill_bare();

  bool read_number(TextLine& line, const Bounds& bounds, std::uint32_t& number);
  bool read_token(const Token& token, const Bounds& bounds, std::uint32_t& number);
  bool expect(TextLine& line, std::string_view symbol, std::string_view where);
  bool fail(const Token& token, std::string_view expected);

  const Schedule& header_;
  std::uint32_t rank_ = 0;
  Step step_;
  std::vector<Bare> bare_;
  TextProblem problem_;
};

// A number of digits below `end`; nothing where it is none.
[[nodiscard]] std::optional<std::uint32_t> number_below(const Token& token, std::uint64_t end);

}  // namespace tutti
