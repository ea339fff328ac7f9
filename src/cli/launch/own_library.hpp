// SPDX-License-Identifier: Apache-2.0
// Libraries that come with this program and that others load.
#pragma once

#include <string>

namespace tutti::cli {

// The path: beside this program, or where it is installed. Empty where it is in neither place.
[[nodiscard]] std::string find_own_library(const std::string& name);

}  // namespace tutti::cli
