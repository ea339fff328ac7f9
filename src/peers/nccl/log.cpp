// SPDX-License-Identifier: Apache-2.0
#include "peers/nccl/log.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bench/outputs/nccl_log.hpp"

namespace tutti::peers::nccl {

namespace {

bool is_of_nccl(std::string_view name) { return name.starts_with("NCCL_") || name.starts_with("RCCL_"); }

}  // namespace

void Log::begin(const std::vector<harness::Setting>& settings, const Environment& environment) {
  const bool is_wanted =
      std::any_of(settings.begin(), settings.end(), [](const auto& setting) { return is_of_nccl(setting.name); });
  const std::vector<std::string> names = environment.names();
  const bool is_taken =
      std::any_of(names.begin(), names.end(), [](const std::string& name) { return name.starts_with("NCCL_DEBUG"); });
  if (!is_wanted || is_taken) return;
  file_ = UniqueFd(::memfd_create("tutti-nccl-log", MFD_CLOEXEC));
  if (!file_.valid()) return;
  ::setenv("NCCL_DEBUG", "INFO", 1);
  ::setenv("NCCL_DEBUG_SUBSYS", "ENV", 1);
  ::setenv("NCCL_DEBUG_FILE", fmt::format("/proc/self/fd/{}", file_.get()).c_str(), 1);
}

std::optional<std::string> Log::text() const {
  if (!file_.valid()) return std::nullopt;
  std::string text;
  std::array<char, 8192> bytes{};
  for (ssize_t got = 0; (got = ::pread(file_.get(), bytes.data(), bytes.size(), static_cast<off_t>(text.size()))) > 0;)
    text.append(bytes.data(), static_cast<std::size_t>(got));
  return text;
}

harness::Evidence evidence_in(const std::optional<std::string>& log, const harness::Setting& setting, int version) {
  if (!is_of_nccl(setting.name)) return unverifiable("the log tells of NCCL_ and RCCL_ variables only");
  if (!log) return unverifiable("the log is not ours: an NCCL_DEBUG variable is set");
  const harness::NcclWord word = harness::nccl_word_on(setting, *log);
  if (!word.is_told && !setting.value) return confirmed("the log has no value for it");
  if (word.evidence.obeyed != State::Obeyed::confirmed) return word.evidence;
  const bool chooses = setting.name == "NCCL_ALGO" || setting.name == "NCCL_PROTO";
  if (chooses && version < kStrictVersion)
    return unverifiable(fmt::format("the log says that it was read; before {} another may do what it cannot",
                                    version_text(kStrictVersion)));
  return word.evidence;
}

}  // namespace tutti::peers::nccl
