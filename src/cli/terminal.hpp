// SPDX-License-Identifier: Apache-2.0
// What the program's standard output is: a terminal of some width that shows tones, or a file or pipe that gets plain
// text. Asked once, in main.
#pragma once

#include <cstddef>
#include <optional>

#include "base/variables/environment.hpp"
#include "bench/views/text_grid.hpp"

namespace tutti::cli {

// No tones where NO_COLOR is set to anything but the empty text, or TERM is dumb. `columns`: of a terminal, 0 where it
// does not say; none: there is no terminal.
[[nodiscard]] TextStyle style_of_terminal(std::optional<std::size_t> columns, const Environment& environment);

// The same for the process's standard output.
[[nodiscard]] TextStyle style_of_standard_output(const Environment& environment);

}  // namespace tutti::cli
