// SPDX-License-Identifier: Apache-2.0
#include "data/no_element.hpp"

#include <fmt/format.h>

namespace tutti {

std::string holds_no_element(std::uint64_t bytes, Type type, std::uint64_t num_blocks) {
  std::string words = fmt::format("{} {} no {}", bytes, bytes == 1 ? "byte holds" : "bytes hold", name_of(type));
  if (num_blocks > 1) words += fmt::format(" for each of {} ranks", num_blocks);
  return words;
}

}  // namespace tutti
