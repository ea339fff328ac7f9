// SPDX-License-Identifier: Apache-2.0
// Fabrics from a line of text: "torus_2d:2x3,bandwidth=25GB/s,latency=1us". Pure functions; thread-safe.
//
// Sizes are explicit: where one number may stand for all, it is their square or cubic root, and else an error, so that
// 6 never becomes 2x2. Links are directed, two for each cable. Regular fabrics come with their routes
// (Fabric::next_link).
#pragma once

#include <span>
#include <string_view>

#include "base/status.hpp"
#include "fabric/fabric.hpp"
#include "fabric/generators/generator.hpp"
#include "fabric/generators/request.hpp"

namespace tutti::fabric {

// All generators, in the order in which they are listed.
[[nodiscard]] std::span<const Generator> generators();
// By its name or its alias; null where there is none.
[[nodiscard]] const Generator* find_generator(std::string_view name);

[[nodiscard]] Result<Fabric> generate(std::string_view text);
[[nodiscard]] Result<Fabric> generate(const Request& request);

}  // namespace tutti::fabric
