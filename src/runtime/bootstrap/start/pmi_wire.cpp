// SPDX-License-Identifier: Apache-2.0
#include "runtime/bootstrap/start/pmi_wire.hpp"

#include <cerrno>
#include <span>

#include <fmt/format.h>
#include <sys/socket.h>

#include "base/text.hpp"

namespace tutti::start {

namespace {

constexpr std::size_t kLongestLine = 4096;
constexpr std::string_view kAnswer = "the process manager's answer";

// For messages: what is put is a secret.
std::string without_value(std::string_view line) { return in_quotes(line.substr(0, line.find(" value="))); }

}  // namespace

std::string_view word_of(std::string_view line, std::string_view name) {
  for (const std::string_view word : split(line, ' ')) {
    if (word.size() > name.size() && word.starts_with(name) && word[name.size()] == '=')
      return word.substr(name.size() + 1);
  }
  return {};
}

Status PmiWire::init() {
  const Result<std::string> line = ask("cmd=init pmi_version=1 pmi_subversion=1", "response_to_init", kAnswer);
  return line.ok() ? Status() : line.status();
}

Result<std::string> PmiWire::job_name() {
  TUTTI_TRY_ASSIGN(const std::string line, ask("cmd=get_my_kvsname", "my_kvsname", kAnswer));
  return std::string(word_of(line, "kvsname"));
}

Status PmiWire::put(std::string_view job, std::string_view key, std::string_view value) {
  const Result<std::string> line =
      ask(fmt::format("cmd=put kvsname={} key={} value={}", job, key, value), "put_result", kAnswer);
  return line.ok() ? Status() : line.status();
}

Result<std::string> PmiWire::get(std::string_view job, std::string_view key) {
  TUTTI_TRY_ASSIGN(const std::string line,
                   ask(fmt::format("cmd=get kvsname={} key={}", job, key), "get_result", kAnswer));
  return std::string(word_of(line, "value"));
}

Status PmiWire::barrier(std::string_view what) {
  const Result<std::string> line = ask("cmd=barrier_in", "barrier_out", what);
  return line.ok() ? Status() : line.status();
}

Status PmiWire::finalize() {
  const Result<std::string> line = ask("cmd=finalize", "finalize_ack", kAnswer);
  return line.ok() ? Status() : line.status();
}

Result<std::string> PmiWire::ask(const std::string& question, std::string_view answer, std::string_view what) {
  TUTTI_TRY(write_line(question));
  Result<std::string> line = read_line(what);
  if (!line.ok()) return line;
  const std::string_view code = word_of(*line, "rc");
  if (word_of(*line, "cmd") != answer || (!code.empty() && code != "0"))
    return Status(Code::system, fmt::format("PMI_FD ({}): the answer to {} is {}; it should be cmd={} and no error",
                                            fd_, without_value(question), without_value(*line), answer));
  return line;
}

Status PmiWire::write_line(const std::string& line) const {
  const std::string whole = line + "\n";
  for (std::string_view rest = whole; !rest.empty();) {
    const ssize_t sent = send(fd_, rest.data(), rest.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return Status::from_errno(fmt::format("PMI_FD ({}): the process manager takes nothing", fd_), errno);
    rest.remove_prefix(static_cast<std::size_t>(sent));
  }
  return {};
}

// A byte at a time: what comes behind the line may be for MPICH.
Result<std::string> PmiWire::read_line(std::string_view what) {
  std::string line;
  for (char letter = 0; line.size() < kLongestLine;) {
    TUTTI_TRY(patience_.until_readable(fd_, what));
    const ssize_t got = recv(fd_, &letter, 1, MSG_DONTWAIT);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got <= 0)
      return Status(Code::system, fmt::format("PMI_FD ({}): the process manager has hung up{}", fd_,
                                              line.empty() ? "" : ", after " + in_quotes(line)));
    if (letter == '\n') return line;
    line += letter;
  }
  return Status(Code::system, fmt::format("PMI_FD ({}): a line has no end: {}", fd_, in_quotes(line)));
}

}  // namespace tutti::start
