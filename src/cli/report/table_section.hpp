// SPDX-License-Identifier: Apache-2.0
// A decision table as a part of a page: what it decides in words, how sure that is, and its evidence. Pure.
#pragma once

#include "report/html/page.hpp"
#include "table/decision_table.hpp"

namespace tutti::cli {

[[nodiscard]] report::Section section_of_table(const DecisionTable& table);

}  // namespace tutti::cli
