// SPDX-License-Identifier: Apache-2.0
// Whether this machine, or the network namespace of this process, can talk to itself by way of the network. Asks the
// system each time; thread-safe.
#pragma once

namespace tutti {

// True also where the system does not say.
[[nodiscard]] bool is_loopback_up();

}  // namespace tutti
