// The limits that the system sets for a process, in the words of a message. No state.
#pragma once

#include <string>

namespace tutti {

// The limit that may have caused an error, with its value and the command that raises it: in parentheses, after a
// space. Empty if no limit causes this error, or none is set.
[[nodiscard]] std::string limit_behind(int error_number);

}  // namespace tutti
