// SPDX-License-Identifier: Apache-2.0
// What the system says of a process. Thread-safe.
#pragma once

#include <sys/types.h>

namespace tutti {

// Whether it is stopped, by a signal or a debugger; false where it goes on, or there is none of that number.
[[nodiscard]] bool is_stopped(pid_t process);
// Whether it has ended, though perhaps nobody has waited for it yet; true as well where there is none of that number.
[[nodiscard]] bool is_ended(pid_t process);

}  // namespace tutti
