// SPDX-License-Identifier: Apache-2.0
// Who has made the processor: what decides which machine profile fits. Thread-safe.
#pragma once

#include <string>

namespace tutti {

// As the processor itself says, such as "GenuineIntel"; empty where it says nothing.
[[nodiscard]] std::string processor_vendor();

}  // namespace tutti
