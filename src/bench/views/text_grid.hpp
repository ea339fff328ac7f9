// SPDX-License-Identifier: Apache-2.0
// Text for people in columns: how wide a line may be, what stands out on a terminal, and lines that are cut there and
// nowhere else. Reads nothing of the process: whoever renders passes in what the output is. Values and pure functions;
// thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tutti {

// Where text goes.
struct TextStyle {
  std::size_t width = 100;   // characters of a line
  bool is_terminal = false;  // longer lines are cut there
  bool has_tones = false;    // bold and faint, by escape sequences
};

enum class Tone : std::uint8_t { plain, bold, faint };

// How many characters a terminal shows, where each code point is one.
[[nodiscard]] std::size_t characters_of(std::string_view text);

// Lines of at most the style's width, broken at blanks, each but the first behind `indent` blanks. Ends in a line feed.
[[nodiscard]] std::string paragraph(std::string_view text, const TextStyle& style, std::size_t indent = 0);

// Of a terminal, each line no longer than it is wide; of anything else the text as it is.
[[nodiscard]] std::string with_cut_lines(std::string_view text, const TextStyle& style);

// Of the longest line.
[[nodiscard]] std::size_t widest_line(std::string_view text);

struct GridColumn {
  std::size_t gap = 2;  // blanks before it, where it has any text
  bool right = false;   // its text stands right
};

struct GridCell {
  std::string text;
  Tone tone = Tone::plain;
  std::size_t span = 1;  // columns; a wide one stands left and makes only its last column wider
};

// Rows of cells under each other, and lines of text between them.
class TextGrid {
 public:
  explicit TextGrid(std::vector<GridColumn> columns) : columns_(std::move(columns)) {}

  // Cells from the first column on; columns without a cell are blank.
  void add_row(std::vector<GridCell> cells) { rows_.emplace_back(std::move(cells)); }
  // Across all columns.
  void add_line(std::string text) { rows_.emplace_back(std::move(text)); }

  // Of the longest line, as it is before any is cut.
  [[nodiscard]] std::size_t width() const;
  // Control characters are escaped, and blanks at the ends of lines left out.
  [[nodiscard]] std::string render(const TextStyle& style) const;

 private:
  using Cells = std::vector<GridCell>;

  [[nodiscard]] std::vector<std::size_t> widths() const;
  [[nodiscard]] std::size_t room_of(std::size_t column, std::size_t span, const std::vector<std::size_t>& widths) const;
  [[nodiscard]] Cells laid_out(const Cells& cells, const std::vector<std::size_t>& widths) const;

  std::vector<GridColumn> columns_;
  std::vector<std::variant<Cells, std::string>> rows_;
};

}  // namespace tutti
