// SPDX-License-Identifier: Apache-2.0
// What someone asks for in words: "torus_2d:2x3,bandwidth=25GB/s,latency=1us". A kind (of a generator, or a fabric that
// has a name), its sizes, and parameters. Behind `inner=` all that follows belongs to the fabric that takes the place
// of each rank: "switch:4,inner=packages:4x4x8". Values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"

namespace tutti::fabric {

struct Parameter {
  std::string name;
  std::string value;  // empty for a word that stands alone
  std::string where;  // in front of what is wrong with it: "my.toml:3: parameters.latency"; empty: nothing
};

struct Request {
  std::string text;
  std::string kind;
  std::vector<std::uint32_t> sizes;   // empty where there are none
  std::vector<Parameter> parameters;  // of those with the same name, the last counts
};

inline constexpr std::string_view kFabricForm =
    "write a fabric as KIND:SIZE,NAME=VALUE, such as torus_2d:2x3,bandwidth=25GB/s";
// `form` is told with what is wrong.
[[nodiscard]] Result<Request> parse_request(std::string_view text, std::string_view form = kFabricForm);

// An error about the parameter.
[[nodiscard]] Status about(const Parameter& parameter, const Status& what);

inline constexpr std::string_view kInner = "inner";

}  // namespace tutti::fabric
