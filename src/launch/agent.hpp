// SPDX-License-Identifier: Apache-2.0
// The command line by which an agent, such as ssh, runs a command on another host. Pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"

namespace tutti::launch {

inline constexpr std::string_view kDefaultAgent = "ssh -o BatchMode=yes";

// The words of the agent, which quotes and backslashes keep together as in a shell; {host} in a word becomes the host,
// which otherwise comes behind them. Then the command: as one word for a shell if the agent is ssh or rsh, which join
// words by spaces; word by word for any other.
[[nodiscard]] Result<std::vector<std::string>> agent_command(std::string_view agent, const std::string& host,
                                                             const std::vector<std::string>& command);

// As a shell reads them back, for messages too.
[[nodiscard]] std::string shell_text(const std::vector<std::string>& words);

}  // namespace tutti::launch
