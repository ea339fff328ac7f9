// SPDX-License-Identifier: Apache-2.0
#include "base/system/file.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system/take_fd.hpp"
#include "base/text.hpp"

namespace tutti {

namespace {

Status cannot_read(const std::string& path, int error) {
  return Status::from_errno(fmt::format("cannot read {}", in_quotes(path)), error);
}

}  // namespace

Result<std::optional<std::string>> read_file_if_there(const std::string& path, std::uint64_t most_bytes) {
  // Non-blocking, so that a pipe without a writer is refused below and not waited for.
  const UniqueFd file = take_fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.valid()) {
    if (errno == ENOENT || errno == ENOTDIR) return std::optional<std::string>();
    return cannot_read(path, errno);
  }
  struct stat about {};
  if (::fstat(file.get(), &about) != 0) return cannot_read(path, errno);
  if (S_ISDIR(about.st_mode)) return cannot_read(path, EISDIR);
  if (!S_ISREG(about.st_mode) && !S_ISCHR(about.st_mode)) {
    return Status(Code::invalid_argument, fmt::format("cannot read {}: it is not a regular file", in_quotes(path)));
  }
  std::string text;
  std::array<char, 16384> buffer{};
  while (true) {
    const ssize_t count = ::read(file.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return cannot_read(path, errno);
    if (count == 0) return std::optional(std::move(text));
    text.append(buffer.data(), static_cast<std::size_t>(count));
    if (text.size() > most_bytes) {
      return Status(Code::invalid_argument,
                    fmt::format("cannot read {}: it is larger than {} bytes", in_quotes(path), most_bytes));
    }
  }
}

Result<std::string> read_file(const std::string& path, std::uint64_t most_bytes) {
  TUTTI_TRY_ASSIGN(std::optional<std::string> text, read_file_if_there(path, most_bytes));
  if (!text.has_value()) return cannot_read(path, ENOENT);
  return std::move(*text);
}

Status replace_file(const std::string& path, std::string_view text) {
  std::string beside = path + ".half-XXXXXX";
  const UniqueFd file(::mkostemp(beside.data(), O_CLOEXEC));
  if (!file.valid()) return Status::from_errno(fmt::format("cannot write {}", in_quotes(path)), errno);
  const auto fail = [&](int error) {
    static_cast<void>(::unlink(beside.c_str()));
    return Status::from_errno(fmt::format("cannot write {}", in_quotes(path)), error);
  };
  for (std::string_view left = text; !left.empty();) {
    const ssize_t written = ::write(file.get(), left.data(), left.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return fail(written < 0 ? errno : ENOSPC);
    left.remove_prefix(static_cast<std::size_t>(written));
  }
  constexpr mode_t kUsual = 0644;
  if (::fchmod(file.get(), kUsual) != 0 || ::fsync(file.get()) != 0) return fail(errno);
  if (::rename(beside.c_str(), path.c_str()) != 0) return fail(errno);
  return {};
}

}  // namespace tutti
