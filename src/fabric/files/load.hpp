// SPDX-License-Identifier: Apache-2.0
// Fabrics by what people call them: a generator ("torus_2d:2x3"), a file ("./my.toml"), or one that comes with Tutti
// ("h100_node"). Behind files and names there may be sizes and parameters, too: "h100_cluster:16x8,memory=hbm". Reads
// files; else pure, and thread-safe.
#pragma once

#include <span>
#include <string_view>

#include "base/status.hpp"
#include "fabric/fabric.hpp"
#include "fabric/processing_element.hpp"

namespace tutti::fabric {

// A file of data, which is part of the program, so that it is there wherever the program is.
struct Shipped {
  std::string_view name;
  std::string_view text;
};
[[nodiscard]] std::span<const Shipped> shipped_fabrics();

[[nodiscard]] Result<Fabric> load_fabric(std::string_view words);

// Whether the first of the words names a file.
[[nodiscard]] bool is_path(std::string_view kind);

// Those of data/processing_elements, and one of them or of a file: "accelerator,dma_overhead=2ns".
[[nodiscard]] std::span<const Shipped> shipped_processing_elements();
[[nodiscard]] Result<ProcessingElement> load_processing_element(std::string_view words);

}  // namespace tutti::fabric
