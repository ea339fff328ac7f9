// SPDX-License-Identifier: Apache-2.0
// Dispatch rules as commands take them: decision tables, one way for everything, and rules that come with Tutti. Reads
// files.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "tune/regret.hpp"

namespace tutti::cli {

// "always:ring", "always:ring [OMPI_X=1]" (always:default: what the library does by itself); "vllm", of the rules that
// come with Tutti; or files of decision tables with commas between, one for each machine.
[[nodiscard]] Result<tune::Rule> read_rule(const std::string& name);

// The peer of the rule's tables; empty where it has none or several.
[[nodiscard]] std::string peer_of(const tune::Rule& rule);

// Of the rules that come with Tutti, each once.
[[nodiscard]] std::vector<std::string> names_of_shipped_rules();

}  // namespace tutti::cli
