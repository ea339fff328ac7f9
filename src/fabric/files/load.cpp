// SPDX-License-Identifier: Apache-2.0
#include "fabric/files/load.hpp"

#include <vector>

#include <fmt/format.h>

#include "base/system/file.hpp"
#include "base/text.hpp"
#include "fabric/files/fabric_file.hpp"
#include "fabric/generators/generate.hpp"

namespace tutti::fabric {

namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{4} << 20;

constexpr std::string_view kElementForm =
    "write a processing element as NAME or FILE with NAME=VALUE behind it, such as accelerator,dma_overhead=2ns";

}  // namespace

bool is_path(std::string_view kind) { return kind.find('/') != std::string_view::npos || kind.ends_with(".toml"); }

Result<Fabric> load_fabric(std::string_view words) {
  TUTTI_TRY_ASSIGN(const Request request, parse_request(words));
  if (find_generator(request.kind) != nullptr) return generate(request);
  if (is_path(request.kind)) {
    TUTTI_TRY_ASSIGN(const std::string text, read_file(request.kind, kMostBytes));
    return read_fabric(text, request.kind, request);
  }
  std::vector<std::string_view> names;
  for (const Shipped& shipped : shipped_fabrics()) {
    if (same_name(shipped.name, request.kind))
      return read_fabric(shipped.text, fmt::format("{}.toml", shipped.name), request);
    names.push_back(shipped.name);
  }
  for (const Generator& generator : generators()) names.push_back(generator.name);
  return Status(
      Code::invalid_argument,
      fmt::format("there is no fabric {}{}; 'tutti list fabrics' has all, and a file is named with its path or "
                  ".toml",
                  in_quotes(request.kind), nearest_hint(request.kind, names)));
}

Result<ProcessingElement> load_processing_element(std::string_view words) {
  TUTTI_TRY_ASSIGN(const Request request, parse_request(words, kElementForm));
  if (!request.sizes.empty())
    return Status(Code::invalid_argument, fmt::format("{}: a processing element has no size", in_quotes(words)));
  if (is_path(request.kind)) {
    TUTTI_TRY_ASSIGN(const std::string text, read_file(request.kind, kMostBytes));
    return read_processing_element(text, request.kind, request);
  }
  std::string known;
  for (const Shipped& shipped : shipped_processing_elements()) {
    if (same_name(shipped.name, request.kind))
      return read_processing_element(shipped.text, fmt::format("{}.toml", shipped.name), request);
    known += fmt::format("{}'{}'", known.empty() ? "" : ", ", shipped.name);
  }
  return Status(
      Code::invalid_argument,
      fmt::format("there is no processing element {}; there is {}, and a file is named with its path or .toml",
                  in_quotes(request.kind), known));
}

}  // namespace tutti::fabric
