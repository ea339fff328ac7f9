// SPDX-License-Identifier: Apache-2.0
// The scripts and styles of pages, as CMake has embedded them. Constants; thread-safe.
#pragma once

#include <string_view>

namespace tutti::report {

struct Asset {
  std::string_view text;
  std::string_view sha256;  // of the text, in hexadecimal digits
};

[[nodiscard]] Asset page_style();
[[nodiscard]] Asset page_script();
[[nodiscard]] Asset chart_script();  // Chart.js; empty in a build without it
[[nodiscard]] Asset live_script();   // of pages that are served
[[nodiscard]] std::string_view page_template();

}  // namespace tutti::report
