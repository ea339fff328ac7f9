// SPDX-License-Identifier: Apache-2.0
// Published windows of matrix products as data: files as docs/formats/processing_element.md has them. Values; reading
// is pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "simulate/gemm/gemm.hpp"

namespace tutti::simulate {

struct GemmReference {
  std::string id;
  std::string configuration;  // in words
  GemmShape shape;
  Preloaded preloaded = Preloaded::none;
  bool is_inferred = false;  // what is preloaded is not published
  bool is_tiled = false;     // of the tiled pipeline alone, else of all work
  double value = 0;          // nanoseconds
  double uncertainty = 0;
};

struct GemmReferences {
  std::string id;
  std::string about;
  std::string source;
  std::string date;
  std::string element;  // as --pe takes it
  std::vector<GemmReference> windows;
};

// `file` stands in messages.
[[nodiscard]] Result<GemmReferences> read_gemm_references(std::string_view text, std::string_view file);

}  // namespace tutti::simulate
