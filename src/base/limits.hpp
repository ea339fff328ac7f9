// The limits that the system sets for a process, in the words of a message. No state.
#pragma once

#include <string>

namespace tutti {

// The limit that an error may come from, with its value and what raises it, in parentheses with a space in front; empty
// where the error comes from none, or none is set.
[[nodiscard]] std::string limit_behind(int error_number);

}  // namespace tutti
