// SPDX-License-Identifier: Apache-2.0
#include "base/log.hpp"

#include <array>
#include <cerrno>

#include <fcntl.h>
#include <unistd.h>

#include "base/system/take_fd.hpp"
#include "base/text.hpp"

namespace tutti {

namespace {

// "all" is a word of the list and no subsystem of its own.
constexpr std::size_t kNumSubsystems = variable_choices::kSubsystems.size() - 1;
static_assert(static_cast<std::size_t>(LogSubsystem::launch) + 1 == kNumSubsystems);
static_assert(variable_choices::kSubsystems[static_cast<std::size_t>(LogSubsystem::launch)] == "launch");
static_assert(variable_choices::kDebug[static_cast<std::size_t>(LogLevel::trace)] == "trace");

constexpr std::array<std::string_view, 5> kLevelWords{"NONE", "VERSION", "WARN", "INFO", "TRACE"};

std::uint32_t subsystems_of(const VariableList& list) {
  std::uint32_t bits = 0;
  for (std::size_t i = 0; i < kNumSubsystems; ++i) {
    if (list.contains(variable_choices::kSubsystems[i])) bits |= std::uint32_t{1} << i;
  }
  return bits;
}

Result<std::string> expand_path(std::string_view pattern, const LogWriter& writer) {
  std::string path;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '%') {
      path += pattern[i];
      continue;
    }
    const char kind = ++i < pattern.size() ? pattern[i] : '\0';
    switch (kind) {
      case 'h': path += writer.host; break;
      case 'p': path += fmt::format("{}", writer.process); break;
      case '%': path += '%'; break;
      default:
        return Status(Code::invalid_argument,
                      fmt::format("TUTTI_DEBUG_FILE: {} holds a % that is none of %h (host), %p (process) and %% (a "
                                  "percent sign)",
                                  in_quotes(pattern)));
    }
  }
  return path;
}

// What one write takes whole, it takes whole; the loop is for what it does not (a full disk, a signal).
void write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(file, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;  // there is nobody left to tell
    text.remove_prefix(static_cast<std::size_t>(count));
  }
}

}  // namespace

LogWriter LogWriter::of_this_process() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) name[0] = '\0';
  const std::string_view whole = name.data();
  const std::string_view host = whole.substr(0, whole.find('.'));
  return {std::string(host.empty() ? "localhost" : host), static_cast<int>(::getpid())};
}

Result<std::unique_ptr<Log>> Log::create(const Variables& variables, const LogWriter& writer) {
  const std::string& pattern = variables.get<VariableId::debug_file>();
  const auto level = variables.get_as<LogLevel, VariableId::debug>();
  int file = STDERR_FILENO;
  if (!pattern.empty() && level != LogLevel::none) {
    TUTTI_TRY_ASSIGN(const std::string path, expand_path(pattern, writer));
    file = take_fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644)).release();
    if (file < 0) {
      const int error = errno;
      return Status::from_errno(fmt::format("TUTTI_DEBUG_FILE: cannot open {} to write the log", in_quotes(path)),
                                error);
    }
  }
  const std::uint32_t subsystems = subsystems_of(variables.get<VariableId::debug_subsystems>());
  return std::unique_ptr<Log>(new Log(level, subsystems, writer, file));
}

Log::Log(LogLevel level, std::uint32_t subsystems, LogWriter writer, int file)
    : level_(level),
      subsystems_(subsystems),
      writer_(std::move(writer)),
      file_(file),
      front_(fmt::format("{}:{} [-]", writer_.host, writer_.process)) {}

Log::~Log() {
  if (file_ != STDERR_FILENO) ::close(file_);
}

void Log::set_rank(Rank rank) { front_ = fmt::format("{}:{} [{}]", writer_.host, writer_.process, rank.value()); }

void Log::write(LogLevel level, LogSubsystem subsystem, std::string_view text) {
  std::string lines;
  while (true) {
    const std::size_t end = text.find('\n');
    lines +=
        fmt::format("{} {} {}: {}\n", front_, kLevelWords[static_cast<std::size_t>(level)],
                    variable_choices::kSubsystems[static_cast<std::size_t>(subsystem)], printable(text.substr(0, end)));
    if (end == std::string_view::npos || end + 1 == text.size()) break;
    text.remove_prefix(end + 1);
  }
  if (lines.size() > kGreatestLine) {
    const std::string cut = fmt::format("... ({} bytes in all)\n", lines.size());
    lines.resize(kGreatestLine - cut.size());
    lines += cut;
  }
  write_all(file_, lines);
}

bool Log::is_first(std::string_view key) {
  const std::lock_guard lock(once_mutex_);
  if (once_.contains(key)) return false;  // without allocating: it is asked in calls that otherwise do not
  once_.emplace(key);
  return true;
}

}  // namespace tutti
