// SPDX-License-Identifier: Apache-2.0
// What all pages have around what they show: style, scripts, policy, and the parts of a page that is served. Pure;
// thread-safe.
#pragma once

#include <string>
#include <string_view>

#include "report/html/page.hpp"

namespace tutti::report {

// Markup, but for the first two, which may hold anything.
struct Frame {
  std::string title;
  std::string where;
  std::string contents;
  std::string sections;
  std::string footer;
  std::string data;  // JSON for the scripts, as json_in_html() writes it
  bool has_charts = false;
};

// `served` is null for a page that is passed on.
[[nodiscard]] std::string whole_page(const Frame& frame, const Served* served);

// As text or an attribute.
[[nodiscard]] std::string in_html(std::string_view text);
// JSON without letters that could end the element it is in. Such letters stand within strings only.
[[nodiscard]] std::string json_in_html(std::string_view json);

}  // namespace tutti::report
