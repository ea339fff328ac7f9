// SPDX-License-Identifier: Apache-2.0
// What the scripts of a page read: its charts and tables as JSON. Pure; thread-safe.
#pragma once

#include <string>

#include "report/html/page.hpp"

namespace tutti::report {

// Safe within a script element: no '<', '>' or '&' stands in it. What is no UTF-8 is replaced. Without charts where
// these are pictures.
[[nodiscard]] std::string data_of(const Page& page, bool has_charts);

}  // namespace tutti::report
