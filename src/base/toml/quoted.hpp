// SPDX-License-Identifier: Apache-2.0
// Text as a TOML string. Pure; thread-safe.
#pragma once

#include <string>
#include <string_view>

namespace tutti::document {

// It reads back to the same text; but what is no UTF-8, which TOML cannot hold, is shown as printable() shows it.
[[nodiscard]] std::string quoted(std::string_view text);

}  // namespace tutti::document
