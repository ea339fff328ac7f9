// SPDX-License-Identifier: Apache-2.0
#include "schedule/msccl/msccl.hpp"

#include <string>

#include <fmt/format.h>

#include "schedule/msccl/emit.hpp"

namespace tutti {

namespace msccl {

Status wrong_at(std::string_view path, std::uint32_t line, std::string_view what) {
  return {Code::invalid_argument, fmt::format("{}:{}: {}", path, line, what)};
}

}  // namespace msccl

Result<Schedule> read_msccl(std::string_view text, std::string_view file_name) {
  TUTTI_TRY_ASSIGN(const msccl::File file, msccl::parse_xml(text, file_name));
  TUTTI_TRY_ASSIGN(const msccl::Lanes lanes, msccl::put_together(file));
  TUTTI_TRY_ASSIGN(const msccl::Buffers buffers, msccl::Buffers::of(file));
  TUTTI_TRY_ASSIGN(const msccl::Followed followed, msccl::follow(file, lanes, buffers));
  return msccl::emit(file, lanes, buffers, followed);
}

bool reads_msccl() { return msccl::has_xml(); }

}  // namespace tutti
