#include "peers/nccl/log.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/text.hpp"

namespace tutti::peers::nccl {

namespace {

bool is_of_nccl(std::string_view name) { return name.starts_with("NCCL_") || name.starts_with("RCCL_"); }

// What follows the last "NAME<middle>" in a line of the log.
std::optional<std::string> value_after(std::string_view log, std::string_view name, std::string_view middle) {
  const std::string wanted = fmt::format(" {}{}", name, middle);
  const std::size_t found = log.rfind(wanted);
  if (found == std::string_view::npos) return std::nullopt;
  log.remove_prefix(found + wanted.size());
  std::string_view value = trim(log.substr(0, log.find('\n')));
  if (value.ends_with('.')) value.remove_suffix(1);
  return std::string(value);
}

// Numbers are told as NCCL has read them, which takes 0x20 for 32 and what is none for 0.
bool same_number(const std::string& a, const std::string& b) {
  const auto number = [](const std::string& text) -> std::optional<long long> {
    char* end = nullptr;
    errno = 0;
    const long long value = std::strtoll(text.c_str(), &end, 0);
    if (errno != 0 || text.empty() || *end != '\0') return std::nullopt;
    return value;
  };
  const std::optional<long long> of_a = number(a);
  return of_a && of_a == number(b);
}

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
  const std::optional<std::string> told = value_after(*log, setting.name, " set by environment to ");
  if (!setting.value) {
    if (told) return ignored(fmt::format("the log has {} from elsewhere, such as nccl.conf", in_quotes(*told)));
    return confirmed("the log has no value for it");
  }
  if (log->find(fmt::format(" for {}, using default", setting.name)) != std::string::npos)
    return ignored("the log says that the value is invalid");
  if (!told) return unverifiable("the log does not say that it was read");
  if (!same_name(*told, *setting.value) && !same_number(*told, *setting.value))
    return ignored(fmt::format("the log says that it is {}", in_quotes(*told)));
  const bool chooses = setting.name == "NCCL_ALGO" || setting.name == "NCCL_PROTO";
  if (chooses && version < kStrictVersion)
    return unverifiable(fmt::format("the log says that it was read; before {} another may do what it cannot",
                                    version_text(kStrictVersion)));
  return confirmed("the log says that it was read");
}

}  // namespace tutti::peers::nccl
