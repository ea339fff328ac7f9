// SPDX-License-Identifier: Apache-2.0
// Errors within an operation, of which the harness makes an error row.
#pragma once

#include <stdexcept>
#include <string>

#include "base/status.hpp"

namespace tutti::peers::on_device {

inline void must(const Status& status) {
  if (!status.ok()) throw std::runtime_error(std::string(status.message()));
}

}  // namespace tutti::peers::on_device
