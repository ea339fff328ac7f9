// SPDX-License-Identifier: Apache-2.0
// The remote launcher: what `tutti launch --hosts` starts on each host through its agent. It reads an order from
// standard input, starts the ranks of this host, tells what they print and how they end on standard output
// (frames.hpp), and sends them the signals that come. When its input ends, the launcher is gone or done, and no rank is
// left behind. Blocks; main thread only, as process_group.hpp.
#pragma once

#include <iosfwd>
#include <string_view>

#include "base/status.hpp"
#include "base/variables/environment.hpp"

namespace tutti::launch {

// An error is also told to the launcher, where there is one. `version` is that of this program.
[[nodiscard]] Status serve_launcher(const Environment& environment, std::string_view version);

}  // namespace tutti::launch
