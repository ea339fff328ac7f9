// SPDX-License-Identifier: Apache-2.0
// Fabrics as files: docs/formats/fabric.md. Reading is pure; writing gives what reads back to the same fabric.
#pragma once

#include <string>
#include <string_view>

#include "base/status.hpp"
#include "fabric/fabric.hpp"
#include "fabric/generators/request.hpp"

namespace tutti::fabric {

// The fabric that the text of a file describes. `file` stands in messages. The sizes and parameters of `changes` come
// in place of the file's; its text is the fabric's name.
[[nodiscard]] Result<Fabric> read_fabric(std::string_view text, std::string_view file, const Request& changes);

// The line that says what a file is about; empty where it says nothing or is wrong.
[[nodiscard]] std::string about_of(std::string_view text);

// By its generator where it has one, with what is different from what that makes; else node by node and link by link,
// where routes are those by latency.
[[nodiscard]] std::string write_fabric(const Fabric& fabric);

}  // namespace tutti::fabric
