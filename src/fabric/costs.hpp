// SPDX-License-Identifier: Apache-2.0
// The parameters that every fabric takes: what its ranks, memories, queues and cores cost, and which memory buffers lie
// in. Pure functions; thread-safe.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "fabric/fabric.hpp"
#include "fabric/generators/request.hpp"

namespace tutti::fabric {

struct CommonParameter {
  std::string name;
  std::string_view about;
};
[[nodiscard]] const std::vector<CommonParameter>& common_parameters();
[[nodiscard]] bool is_common(std::string_view name);

// Gives all ranks, memories, queues and cores what those of the parameters say that are common ones.
[[nodiscard]] Status apply_common(std::span<const Parameter> parameters, Fabric& fabric);

// Puts the buffers of all ranks into this kind of memory.
[[nodiscard]] Status choose_memory(std::string_view name, Fabric& fabric);
// Gives all ranks this kind of costs.
[[nodiscard]] Status choose_costs(std::string_view name, Fabric& fabric);

}  // namespace tutti::fabric
