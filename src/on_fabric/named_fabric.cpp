// SPDX-License-Identifier: Apache-2.0
#include "on_fabric/named_fabric.hpp"

#include <mutex>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"
#include "fabric/files/load.hpp"
#include "on_fabric/held.hpp"
#include "on_fabric/way.hpp"
#include "runtime/selection/table_choice.hpp"

namespace tutti::on_fabric {

Result<std::shared_ptr<const NamedFabric>> NamedFabric::load(std::string_view variable) {
  const std::string_view name = row_of(VariableId::fabric).name;
  if (!variable.starts_with(kFabricPeers))
    return wrong_argument(fmt::format("{} is {}; it takes {}FABRIC, as in {}torus_2d:2x3 or {}./my.toml", name,
                                      in_quotes(variable), kFabricPeers, kFabricPeers, kFabricPeers));
  // Never destroyed: a thread may still be here when another one leaves the process.
  static auto& held = *new Held<std::pair<std::string, std::uint64_t>, const NamedFabric>;
  const std::lock_guard lock(held.mutex);
  const std::string_view words = variable.substr(kFabricPeers.size());
  const Result<fabric::Request> request = fabric::parse_request(words);
  // What is in a file may have changed, so that is read again, and shared if it is the same.
  const bool is_file = request.ok() && fabric::is_path(request->kind);
  std::pair<std::string, std::uint64_t> key(variable, 0);
  if (!is_file)
    if (std::shared_ptr<const NamedFabric> found = held.find(key)) return found;
  Result<fabric::Fabric> fabric = fabric::load_fabric(words);
  if (!fabric.ok()) return Status(fabric.status().code(), fmt::format("{}: {}", name, fabric.status().message()));
  const std::uint64_t digest = digest_of(words, *fabric);
  if (is_file) {
    key.second = digest;
    if (std::shared_ptr<const NamedFabric> found = held.find(key)) return found;
  }
  const std::shared_ptr<const NamedFabric> made =
      std::make_shared<const NamedFabric>(NamedFabric{std::string(variable), std::move(*fabric), digest});
  held.all[key] = made;
  return made;
}

}  // namespace tutti::on_fabric
