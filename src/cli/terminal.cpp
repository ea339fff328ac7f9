// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal.hpp"

#include <algorithm>

#include <sys/ioctl.h>
#include <unistd.h>

namespace tutti::cli {

TextStyle style_of_terminal(std::optional<std::size_t> columns, const Environment& environment) {
  TextStyle style;
  if (!columns) return style;
  style.is_terminal = true;
  if (*columns > 0) style.width = std::min(style.width, *columns);
  const bool is_dumb = environment.lookup("TERM") == "dumb";
  style.has_tones = !is_dumb && environment.lookup("NO_COLOR").value_or("").empty();
  return style;
}

TextStyle style_of_standard_output(const Environment& environment) {
  if (::isatty(STDOUT_FILENO) == 0) return {};
  winsize size{};
  const bool is_known = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0;
  return style_of_terminal(is_known ? size.ws_col : std::size_t{0}, environment);
}

}  // namespace tutti::cli
