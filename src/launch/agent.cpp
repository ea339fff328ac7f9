// SPDX-License-Identifier: Apache-2.0
#include "launch/agent.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"

namespace tutti::launch {

namespace {

constexpr std::string_view kHostMark = "{host}";

Result<std::vector<std::string>> words_of(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  bool is_word = false;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote == 0 && (c == ' ' || c == '\t' || c == '\n')) {
      if (is_word) words.push_back(std::exchange(word, {}));
      is_word = false;
      continue;
    }
    is_word = true;
    if (c == quote) {
      quote = 0;
    } else if (quote == 0 && (c == '\'' || c == '"')) {
      quote = c;
    } else if (c == '\\' && quote != '\'' && i + 1 < text.size()) {
      word += text[++i];
    } else {
      word += c;
    }
  }
  if (quote != 0) return wrong_argument(fmt::format("--agent is {}; a quote is not closed", in_quotes(text)));
  if (is_word) words.push_back(word);
  if (words.empty() || words.front().empty()) {
    return wrong_argument(
        fmt::format("--agent is {}; it takes a command such as {}", in_quotes(text), in_quotes(kDefaultAgent)));
  }
  return words;
}

bool joins_words(std::string_view program) {
  const std::string_view name = program.substr(program.rfind('/') + 1);
  return name == "ssh" || name == "rsh";
}

bool is_plain(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
         std::string_view("_@%+=:,./-").find(c) != std::string_view::npos;
}

std::string shell_word(std::string_view word) {
  if (!word.empty() && std::all_of(word.begin(), word.end(), is_plain)) return std::string(word);
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace

std::string shell_text(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + shell_word(word);
  return text;
}

Result<std::vector<std::string>> agent_command(std::string_view agent, const std::string& host,
                                               const std::vector<std::string>& command) {
  TUTTI_TRY_ASSIGN(std::vector<std::string> words, words_of(agent));
  bool is_named = false;
  for (std::string& word : words) {
    for (std::size_t at = word.find(kHostMark); at != std::string::npos; at = word.find(kHostMark, at + host.size())) {
      word.replace(at, kHostMark.size(), host);
      is_named = true;
    }
  }
  if (!is_named) words.push_back(host);
  if (joins_words(words.front())) {
    words.push_back(shell_text(command));
  } else {
    words.insert(words.end(), command.begin(), command.end());
  }
  return words;
}

}  // namespace tutti::launch
