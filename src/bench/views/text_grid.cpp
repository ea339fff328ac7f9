// SPDX-License-Identifier: Apache-2.0
#include "bench/views/text_grid.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"

namespace tutti {

namespace {

constexpr std::string_view kCut = "…";

bool begins_character(char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }

// The first characters.
std::string_view first_of(std::string_view text, std::size_t characters) {
  std::size_t end = 0;
  for (; end < text.size(); ++end)
    if (begins_character(text[end]) && characters-- == 0) break;
  return text.substr(0, end);
}

std::string in_tone(std::string_view text, Tone tone, const TextStyle& style) {
  if (tone == Tone::plain || !style.has_tones || text.find_first_not_of(' ') == std::string_view::npos)
    return std::string(text);
  return fmt::format("\x1b[{}m{}\x1b[0m", tone == Tone::bold ? 1 : 2, text);
}

// Parts beside each other; on a terminal no longer than it is wide.
std::string line_of(std::vector<GridCell> parts, const TextStyle& style) {
  while (!parts.empty()) {
    std::string& text = parts.back().text;
    text.erase(text.find_last_not_of(' ') + 1);
    if (!text.empty()) break;
    parts.pop_back();
  }
  std::size_t total = 0;
  for (const GridCell& part : parts) total += characters_of(part.text);
  const bool is_cut = style.is_terminal && total > style.width && style.width > 0;
  std::size_t room = is_cut ? style.width - 1 : total;
  std::string line;
  for (const GridCell& part : parts) {
    const std::string_view shown = first_of(part.text, room);
    room -= characters_of(shown);
    line += in_tone(shown, part.tone, style);
  }
  if (is_cut) line += kCut;
  return line + "\n";
}

}  // namespace

std::size_t characters_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), begins_character));
}

std::string paragraph(std::string_view text, const TextStyle& style, std::size_t indent) {
  std::string all;
  std::string line;
  for (const std::string_view word : split(text, ' ')) {
    if (word.empty()) continue;
    const bool is_first = line.find_first_not_of(' ') == std::string::npos;
    if (!is_first && characters_of(line) + 1 + characters_of(word) > style.width) {
      all += line_of({{line}}, style);
      line = std::string(indent, ' ');
      line += word;
      continue;
    }
    if (!is_first) line += ' ';
    line += word;
  }
  return all + line_of({{line}}, style);
}

std::string with_cut_lines(std::string_view text, const TextStyle& style) {
  if (!style.is_terminal) return std::string(text);
  std::string all;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    all += line_of({{std::string(text.substr(begin, end - begin))}}, style);
    begin = end + 1;
  }
  return all;
}

std::size_t widest_line(std::string_view text) {
  std::size_t widest = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    widest = std::max(widest, characters_of(text.substr(begin, end - begin)));
    begin = end + 1;
  }
  return widest;
}

std::vector<std::size_t> TextGrid::widths() const {
  std::vector<std::size_t> widths(columns_.size(), 0);
  const auto each_cell = [&](const auto& visit) {
    for (const auto& row : rows_) {
      const auto* cells = std::get_if<Cells>(&row);
      std::size_t column = 0;
      if (cells == nullptr) continue;
      for (const GridCell& cell : *cells) {
        visit(cell, column);
        column += cell.span;
      }
    }
  };
  each_cell([&](const GridCell& cell, std::size_t column) {
    if (cell.span == 1) widths[column] = std::max(widths[column], characters_of(printable(cell.text)));
  });
  each_cell([&](const GridCell& cell, std::size_t column) {
    const std::size_t room = room_of(column, cell.span, widths);
    const std::size_t wanted = characters_of(printable(cell.text));
    std::size_t last = column + cell.span - 1;
    while (last > column && widths[last] == 0) --last;
    if (wanted > room) widths[last] += wanted - room;
  });
  return widths;
}

// A column without text takes no room at all.
std::size_t TextGrid::room_of(std::size_t column, std::size_t span, const std::vector<std::size_t>& widths) const {
  std::size_t room = 0;
  for (std::size_t each = column; each < column + span; ++each)
    room += widths[each] + (room == 0 || widths[each] == 0 ? 0 : columns_[each].gap);
  return room;
}

TextGrid::Cells TextGrid::laid_out(const Cells& cells, const std::vector<std::size_t>& widths) const {
  Cells parts;
  std::size_t column = 0;
  for (const GridCell& cell : cells) {
    const std::size_t room = room_of(column, cell.span, widths);
    if (room > 0 && !parts.empty()) parts.push_back({std::string(columns_[column].gap, ' ')});
    const std::string text = printable(cell.text);
    const std::string padding(room - characters_of(text), ' ');
    const bool is_right = cell.span == 1 && columns_[column].right;
    if (is_right) parts.push_back({padding});
    parts.push_back({text, cell.tone});
    if (!is_right) parts.push_back({padding});
    column += cell.span;
  }
  return parts;
}

std::size_t TextGrid::width() const { return widest_line(render({})); }

std::string TextGrid::render(const TextStyle& style) const {
  const std::vector<std::size_t> widths = this->widths();
  std::string text;
  for (const auto& row : rows_) {
    const auto* cells = std::get_if<Cells>(&row);
    text += cells != nullptr ? line_of(laid_out(*cells, widths), style)
                             : line_of({{printable(std::get<std::string>(row))}}, style);
  }
  return text;
}

}  // namespace tutti
