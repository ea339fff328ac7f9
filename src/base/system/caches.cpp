// SPDX-License-Identifier: Apache-2.0
#include "base/system/caches.hpp"

#include <fstream>
#include <string>

#include <fmt/format.h>

#include "base/units.hpp"

namespace tutti {

std::optional<std::uint64_t> size_of_cache(int index) {
  std::ifstream file(fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}/size", index));
  std::string text;
  if (!(file >> text)) return std::nullopt;
  const Result<Bytes> bytes = parse_bytes(text);
  if (!bytes.ok() || bytes->value() == 0) return std::nullopt;
  return bytes->value();
}

}  // namespace tutti
