// SPDX-License-Identifier: Apache-2.0
// One endpoint out of several between the same ranks, for networks where one connection does not get all that there is:
// where each flow has a limit, or where hosts have several interfaces. Long messages go through them in turn. Short
// ones, for which a further connection would only be further to look at, stay with the one of the last long message. A
// reader sees the same sizes in the same order, and so knows where the next message comes. One thread at a time, as for
// any endpoint.
#pragma once

#include <memory>
#include <vector>

#include "base/status.hpp"
#include "transport/endpoint.hpp"

namespace tutti::transport::striped {

// From so many parts of a slot on, a message is long.
inline constexpr std::uint64_t kPartOfSlot = 4;

// Of one or more endpoints of one shape.
[[nodiscard]] Result<std::unique_ptr<Endpoint>> make_striped_endpoint(std::vector<std::unique_ptr<Endpoint>> parts);

}  // namespace tutti::transport::striped
