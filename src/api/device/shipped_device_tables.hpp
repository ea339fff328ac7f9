// SPDX-License-Identifier: Apache-2.0
// The decision table of devices that comes with Tutti, which is part of the library. Constant.
#pragma once

#include <string_view>

namespace tutti::api {

// data/device/nvlink.toml.
[[nodiscard]] std::string_view shipped_nvlink_table();

}  // namespace tutti::api
