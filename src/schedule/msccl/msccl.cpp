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
  const Result<msccl::File> file = msccl::parse_xml(text, file_name);
  if (!file.ok()) return file.status();
  const Result<msccl::Lanes> lanes = msccl::put_together(file.value());
  if (!lanes.ok()) return lanes.status();
  const Result<msccl::Buffers> buffers = msccl::Buffers::of(file.value());
  if (!buffers.ok()) return buffers.status();
  const Result<msccl::Followed> followed = msccl::follow(file.value(), lanes.value(), buffers.value());
  if (!followed.ok()) return followed.status();
  return msccl::emit(file.value(), lanes.value(), buffers.value(), followed.value());
}

bool reads_msccl() { return msccl::has_xml(); }

}  // namespace tutti
