// SPDX-License-Identifier: Apache-2.0
// The fabric of communicators in virtual time. A value; loading is thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/status.hpp"
#include "fabric/fabric.hpp"
#include "table/decision_table.hpp"

namespace tutti::on_fabric {

// A fabric as the variable TUTTI_FABRIC names it: simulate:FABRIC. Read once, for all communicators that come from one.
struct NamedFabric {
  std::string variable;
  fabric::Fabric fabric;
  std::uint64_t digest = 0;

  // What follows simulate:.
  [[nodiscard]] std::string_view words() const { return std::string_view(variable).substr(kFabricPeers.size()); }
  // Returns the fabric that another rank of this process has loaded and still uses, if there is one. Thread-safe.
  [[nodiscard]] static Result<std::shared_ptr<const NamedFabric>> load(std::string_view variable);
};

}  // namespace tutti::on_fabric
