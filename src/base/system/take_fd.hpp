// SPDX-License-Identifier: Apache-2.0
// Descriptors that the system has just made, kept away from the numbers of the standard streams. Everything in the
// library that makes a descriptor takes it through here. Thread-safe.
#pragma once

#include "base/system/unique_fd.hpp"

namespace tutti {

// What a system call has returned: a new descriptor that closes on exec, or a negative number, and then errno stays as
// it is. Where a program has closed its standard streams, 0, 1 and 2 are handed out next, and whatever it prints would
// end up in there: such a descriptor is moved behind them.
[[nodiscard]] UniqueFd take_fd(int fd);

}  // namespace tutti
