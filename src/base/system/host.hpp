// SPDX-License-Identifier: Apache-2.0
// Which host a process is on, told apart by more than its name: containers may share one, and a host may have several
// networks. Thread-safe.
#pragma once

#include <string>
#include <string_view>

#include "base/status.hpp"

namespace tutti {

// Two processes are on one host, and may share memory, if `id`, `boot` and `network` are the same.
struct Host {
  std::string name;            // for messages
  std::string id = {};         // what the user calls it (TUTTI_HOST_ID)
  std::string boot;            // the kernel's boot id: no two machines have the same
  std::string network;         // the network namespace, in which abstract sockets live
  std::string processes = {};  // the pid namespace, in which numbers of processes mean something
  std::string clock = {};      // the time namespace, in which monotonic clocks agree

  [[nodiscard]] bool is_same(const Host& other) const {
    return id == other.id && boot == other.boot && network == other.network;
  }
};
// An error only where descriptors have run out: what the system does not tell stays empty.
[[nodiscard]] Result<Host> this_host(std::string_view id);

}  // namespace tutti
