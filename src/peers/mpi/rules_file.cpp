// SPDX-License-Identifier: Apache-2.0
#include "peers/mpi/rules_file.hpp"

#include <cstdint>

#include "base/system/file.hpp"
#include "tune/export/openmpi_rules.hpp"

namespace tutti::peers {

Status check_rules_file(const std::string& path) {
  constexpr std::uint64_t kMostBytes = 16 << 20;
  TUTTI_TRY_ASSIGN(const std::string text, read_file(path, kMostBytes));
  return tune::read_openmpi_classic(text, path).status();
}

}  // namespace tutti::peers
