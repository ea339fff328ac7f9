// SPDX-License-Identifier: Apache-2.0
// Settings of one communicator.
#pragma once

#include <string>
#include <vector>

#include <tutti/tutti.h>

namespace tutti {
inline namespace v0_1 {

// Settings of one communicator that override the environment, each "NAME=VALUE".
struct Config {
  std::vector<std::string> variables;
};

namespace detail {

// As the C API takes it; borrows.
struct CConfig {
  explicit CConfig(const Config& config) {
    for (const std::string& each : config.variables) pointers.push_back(each.c_str());
    pointers.push_back(nullptr);
    value.variables = pointers.data();
  }
  std::vector<const char*> pointers;
  tuttiConfig_t value = TUTTI_CONFIG_INITIALIZER;
};

}  // namespace detail
}  // namespace v0_1
}  // namespace tutti
