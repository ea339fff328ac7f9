// SPDX-License-Identifier: Apache-2.0
#include "bench/axes/list_text.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"

namespace tutti::harness {

namespace {

constexpr std::string_view kBlanks = " \t\r";

// `text` begins with a quote: where the one that closes it stands, or npos. What lies between is appended to `content`.
std::size_t closing_quote(std::string_view text, std::string& content) {
  for (std::size_t at = 1; at < text.size(); ++at) {
    if (text[at] == '"') return at;
    const bool escapes = text[at] == '\\' && at + 1 < text.size() && (text[at + 1] == '"' || text[at + 1] == '\\');
    if (escapes) ++at;
    content += text[at];
  }
  return std::string_view::npos;
}

}  // namespace

Result<std::vector<ListItem>> split_list(std::string_view text) {
  std::vector<ListItem> items;
  std::string_view rest = text;
  while (true) {
    if (items.size() == kMostValues) {
      return Status(Code::invalid_argument,
                    fmt::format("the list {} has more than {} values", in_quotes(text), kMostValues));
    }
    rest.remove_prefix(std::min(rest.find_first_not_of(kBlanks), rest.size()));
    ListItem item;
    if (rest.starts_with('"')) {
      const std::size_t close = closing_quote(rest, item.text);
      if (close == std::string_view::npos) {
        return Status(Code::invalid_argument,
                      fmt::format("the quote at {} in {} is not closed; write \" behind it, or \\\" for a quote within "
                                  "quotes",
                                  in_quotes(rest), in_quotes(text)));
      }
      item.quoted = true;
      rest.remove_prefix(close + 1);
      if (const std::string_view more = trim(rest.substr(0, rest.find(','))); !more.empty()) {
        return Status(Code::invalid_argument,
                      fmt::format("{} follows a closed quote in {}; write a comma between values, and \\\" for a quote "
                                  "within quotes",
                                  in_quotes(more), in_quotes(text)));
      }
    } else {
      item.text = trim(rest.substr(0, rest.find(',')));
    }
    items.push_back(std::move(item));
    const std::size_t comma = rest.find(',');
    if (comma == std::string_view::npos) return items;
    rest.remove_prefix(comma + 1);
  }
}

std::optional<std::string> without_quotes(std::string_view text) {
  std::string content;
  if (!text.starts_with('"') || closing_quote(text, content) != text.size() - 1) return std::nullopt;
  return content;
}

std::string with_quotes(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

}  // namespace tutti::harness
