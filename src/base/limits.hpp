// SPDX-License-Identifier: Apache-2.0
// The limits that the system sets for a process, in the words of a message. No state.
#pragma once

#include <string>
#include <string_view>

#include "base/status.hpp"

namespace tutti {

// The limit that may have caused an error, with its value and the command that raises it: in parentheses, after a
// space. Empty if no limit causes this error, or none is set.
[[nodiscard]] std::string limit_behind(int error_number);

// Why a thread does not start, with the limits that may have caused it: the system does not say of what there was not
// enough.
[[nodiscard]] Status thread_refusal(std::string_view name, int error_number);

}  // namespace tutti
