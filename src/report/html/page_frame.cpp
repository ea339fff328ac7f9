// SPDX-License-Identifier: Apache-2.0
#include "report/html/page_frame.hpp"

#include <cstddef>
#include <map>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "report/html/assets.hpp"
#include "report/svg.hpp"

namespace tutti::report {

namespace {

unsigned digit_of(char letter) { return static_cast<unsigned>(letter <= '9' ? letter - '0' : letter - 'a' + 10); }

// Of hexadecimal digits, as a page's policy names what it allows.
std::string base64_of(std::string_view hexadecimal) {
  constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  unsigned bits = 0;
  unsigned count = 0;
  for (const char letter : hexadecimal) {
    bits = (bits << 4U) | digit_of(letter);
    count += 4;
    if (count < 6) continue;
    count -= 6;
    text += kLetters[(bits >> count) & 63U];
  }
  if (count > 0) text += kLetters[(bits << (6 - count)) & 63U];
  while (text.size() % 4 != 0) text += '=';
  return text;
}

std::string policy_with(std::string_view more_scripts, std::string_view more) {
  const auto allowed = [](const Asset& asset) { return fmt::format(" 'sha256-{}'", base64_of(asset.sha256)); };
  return fmt::format(
      "default-src 'none'; script-src{}{}{}; style-src{}; img-src data:; base-uri 'none'; form-action 'none'{}",
      allowed(page_script()), allowed(chart_script()), more_scripts, allowed(page_style()), more);
}

// Each {{name}} by its text, in one pass: what is put in is not looked at again.
std::string filled(std::string_view form, const std::map<std::string, std::string, std::less<>>& texts) {
  std::string result;
  while (true) {
    const std::size_t begin = form.find("{{");
    result += form.substr(0, begin);
    if (begin == std::string_view::npos) return result;
    const std::size_t end = form.find("}}", begin);
    result += texts.find(form.substr(begin + 2, end - begin - 2))->second;
    form.remove_prefix(end + 2);
  }
}

std::string above_of(const Served& served) {
  return fmt::format(
      "<nav class=\"home\" aria-label=\"Pages\"><a href=\"{}\">All runs</a></nav>\n"
      "<p class=\"news\" id=\"news\"><span role=\"status\" id=\"news-words\"></span></p>\n",
      in_html(served.home));
}

std::string below_of(const Served& served) {
  const nlohmann::ordered_json live = {{"home", served.home}, {"events", served.events}, {"mark", served.mark}};
  return fmt::format("<script type=\"application/json\" id=\"live\">{}</script>\n<script>{}</script>\n",
                     json_in_html(live.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace)),
                     live_script().text);
}

}  // namespace

std::string in_html(std::string_view text) { return escaped(printable(text)); }

std::string json_in_html(std::string_view json) {
  std::string safe;
  safe.reserve(json.size());
  for (const char letter : json) {
    switch (letter) {
      case '<': safe += "\\u003c"; break;
      case '>': safe += "\\u003e"; break;
      case '&': safe += "\\u0026"; break;
      default: safe += letter;
    }
  }
  return safe;
}

std::string policy_of_pages() { return policy_with("", ""); }

std::string policy_of_served_pages() {
  return policy_with(fmt::format(" 'sha256-{}'", base64_of(live_script().sha256)), "; connect-src 'self'");
}

std::string whole_page(const Frame& frame, const Served* served) {
  return filled(page_template(), {{"policy", served != nullptr ? policy_of_served_pages() : policy_of_pages()},
                                  {"title", in_html(frame.title)},
                                  {"where", in_html(frame.where)},
                                  {"style", std::string(page_style().text)},
                                  {"above", served != nullptr ? above_of(*served) : ""},
                                  {"contents", frame.contents},
                                  {"sections", frame.sections},
                                  {"footer", frame.footer},
                                  {"data", frame.data},
                                  {"charts", frame.has_charts ? std::string(chart_script().text) : ""},
                                  {"script", std::string(page_script().text)},
                                  {"below", served != nullptr ? below_of(*served) : ""}});
}

}  // namespace tutti::report
