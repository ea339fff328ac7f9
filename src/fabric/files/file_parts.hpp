// SPDX-License-Identifier: Apache-2.0
// The parts of a fabric's file, each read into the fabric that the parts before have begun. Pure; thread-safe.
#pragma once

#include <string>
#include <vector>

#include "base/status.hpp"
#include "base/toml/document.hpp"
#include "fabric/fabric.hpp"

namespace tutti::fabric {

// [[nodes]], and a rank on each that is no switch; `places` says where each is in the file. file_graph.cpp.
[[nodiscard]] Status read_nodes(const document::Section& document, Fabric& fabric, std::vector<std::string>& places);
// [[links]] between them, with what [link] says of all.
[[nodiscard]] Status read_links(const document::Section& document, Fabric& fabric);
// [[links]] that a generator has made, with other costs.
[[nodiscard]] Status change_links(const document::Section& document, Fabric& fabric);

// [[costs]], [[memories]] and [queue]. file_ranks.cpp.
[[nodiscard]] Status read_costs(const document::Section& document, Fabric& fabric);
// [[kernels]]. file_software.cpp.
[[nodiscard]] Status read_kernels(const document::Section& document, Fabric& fabric);
// [[implementations]], whose costs are there already.
[[nodiscard]] Status read_implementations(const document::Section& document, Fabric& fabric);
// [[ranks]] in place of those that are there, [[cores]], `memory` and `switch_cost`.
[[nodiscard]] Status read_ranks(const document::Section& document, Fabric& fabric);
// `grid` of the ranks, which are there already.
[[nodiscard]] Status read_grid(const document::Section& document, Fabric& fabric);

}  // namespace tutti::fabric
