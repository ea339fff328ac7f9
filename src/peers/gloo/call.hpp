// SPDX-License-Identifier: Apache-2.0
// A request as a call of Gloo, whose collectives are templates over types and functions.
#pragma once

#include <cstdint>
#include <memory>

#include "peers/peer.hpp"

namespace gloo {
class Context;
}

namespace tutti::peers {

// Of Gloo's all-reduce.
enum class GlooAlgorithm : std::uint8_t { unspecified, ring, bcube };

// Code::unsupported says what Gloo has not got. All ranks prepare the same requests in the same order.
[[nodiscard]] Result<Operation> to_gloo(const Request& request, const std::shared_ptr<gloo::Context>& context,
                                        GlooAlgorithm algorithm);

}  // namespace tutti::peers
