// SPDX-License-Identifier: Apache-2.0
// What Tutti could leave behind on a machine, and what a rank holds that could stay after it.
#pragma once

#include <set>
#include <string>
#include <vector>

#include <sys/types.h>

namespace tutti::test {

// Names of Tutti's in /dev/shm, in /tmp and among the abstract sockets.
[[nodiscard]] std::set<std::string> traces();

// What a process has that has a name in a file system: shared mappings, and open files that it does not have from this
// process. A memfd looks like a file that was removed.
[[nodiscard]] std::vector<std::string> lasting(pid_t process);

}  // namespace tutti::test
