// SPDX-License-Identifier: Apache-2.0
// One endpoint out of several between the same ranks, its parts, for networks where one connection does not get all
// that there is: where each is limited, or where hosts have several interfaces. Each queue uses one part until it has
// sent a long message there, then the next part. Short messages do not change it: to wait for them on several parts
// would take longer. A reader sees the same sizes in the same order, and so knows where the next message comes. One
// thread at a time, as for any endpoint.
#pragma once

#include <memory>
#include <vector>

#include "base/status.hpp"
#include "transport/endpoint.hpp"

namespace tutti::transport::striped {

// A message is long from 1/kPartOfSlot of a slot on.
inline constexpr std::uint64_t kPartOfSlot = 4;

// Of one or more endpoints of one shape.
[[nodiscard]] Result<std::unique_ptr<Endpoint>> make_striped_endpoint(std::vector<std::unique_ptr<Endpoint>> parts);

}  // namespace tutti::transport::striped
