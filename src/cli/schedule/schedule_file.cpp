// SPDX-License-Identifier: Apache-2.0
#include "cli/schedule/schedule_file.hpp"

#include "base/system/file.hpp"
#include "base/text.hpp"
#include "schedule/msccl/msccl.hpp"
#include "schedule/text/text_form.hpp"

namespace tutti::cli {

Result<Schedule> read_schedule_file(const std::string& path) {
  const Result<std::string> text = read_file(path, schedule_text::kMostBytes);
  if (!text.ok()) return text.status();
  std::string_view begin = std::string_view(*text).substr(0, 4096);
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (begin.starts_with(kByteOrderMark)) begin.remove_prefix(kByteOrderMark.size());
  return trim(begin).starts_with('<') ? read_msccl(*text, path) : read_schedule(*text, path);
}

}  // namespace tutti::cli
