// SPDX-License-Identifier: Apache-2.0
// Stands in for xml.cpp where Tutti is built without expat.
#include <fmt/format.h>

#include "base/text.hpp"
#include "schedule/msccl/file.hpp"

namespace tutti::msccl {

bool has_xml() { return false; }

Result<File> parse_xml(std::string_view, std::string_view path) {
  return Status(Code::unsupported,
                fmt::format("cannot read {}: this Tutti was built without expat, which reads XML; install its package "
                            "(on Debian libexpat1-dev) and build again with -DTUTTI_EXPAT=ON",
                            in_quotes(path)));
}

}  // namespace tutti::msccl
