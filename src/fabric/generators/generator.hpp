// SPDX-License-Identifier: Apache-2.0
// What a generator is: a row that says how it is asked for, and a function that makes its fabric. The rows are in
// generate.cpp; the functions stand with their kind. Constants.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "fabric/fabric.hpp"

namespace tutti::fabric {

// Links that cost the same; their fields are parameters with this prefix in front: "network_bandwidth".
struct LinkClass {
  std::string_view prefix;
  std::string_view about;
  double bandwidth;
  double latency;
};

// A parameter that is no cost: a flag, or a number.
struct Setting {
  std::string_view name;
  std::string_view about;
  bool is_flag;
};

// What is asked of a generator, read and complete.
struct GeneratorArguments {
  std::vector<std::uint32_t> sizes;
  std::vector<Link> links;              // of each class
  std::vector<std::uint32_t> settings;  // of each setting; 0 where it is not there
};

struct Generator {
  std::string_view name;
  std::string_view alias;  // empty: none
  std::string_view form;   // of its sizes: "WxH"
  std::string_view example;
  std::string_view about;
  std::uint32_t least_sizes;
  std::uint32_t most_sizes;
  bool takes_power;  // one number in place of all sizes, which are its square or cubic root
  std::span<const LinkClass> links;
  std::span<const Setting> settings;
  Result<Fabric> (*make)(const GeneratorArguments& arguments);
};

// How many of each a fabric would have; an error where that is more than there may be.
struct Extent {
  std::uint64_t ranks = 0;
  std::uint64_t nodes = 0;
  std::uint64_t links = 0;
  std::uint64_t ports = 0;  // links that leave the node with the most
};
[[nodiscard]] Status check(const Extent& extent);

[[nodiscard]] Result<Fabric> make_torus(const GeneratorArguments& arguments);  // of one dimension (a ring) to three
[[nodiscard]] Result<Fabric> make_mesh(const GeneratorArguments& arguments);
[[nodiscard]] Result<Fabric> make_switch(const GeneratorArguments& arguments);
[[nodiscard]] Result<Fabric> make_fat_tree(const GeneratorArguments& arguments);
[[nodiscard]] Result<Fabric> make_dragonfly(const GeneratorArguments& arguments);
[[nodiscard]] Result<Fabric> make_rail(const GeneratorArguments& arguments);
[[nodiscard]] Result<Fabric> make_packages(const GeneratorArguments& arguments);
[[nodiscard]] Result<Fabric> make_host(const GeneratorArguments& arguments);

}  // namespace tutti::fabric
