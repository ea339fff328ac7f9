// SPDX-License-Identifier: Apache-2.0
#include "runtime/bootstrap/start/pmi_wire.hpp"

#include <cerrno>
#include <cstdint>
#include <span>
#include <vector>

#include <fmt/format.h>
#include <sys/socket.h>

#include "base/text.hpp"

namespace tutti::start {

namespace {

constexpr std::size_t kLongestLine = 4096;
constexpr std::string_view kAnswer = "the process manager's answer";

// For messages: what is put is a secret.
std::string without_value(std::string_view line) { return in_quotes(line.substr(0, line.find(" value="))); }

bool is_right(std::string_view line) {
  const std::string_view code = word_of(line, "rc");
  return code.empty() || code == "0";
}

}  // namespace

std::string_view word_of(std::string_view line, std::string_view name) {
  for (const std::string_view word : split(line, ' ')) {
    if (word.size() > name.size() && word.starts_with(name) && word[name.size()] == '=')
      return word.substr(name.size() + 1);
  }
  return {};
}

bool names_several_nodes(std::string_view mapping) {
  std::vector<std::uint64_t> numbers;
  for (bool in_number = false; const char letter : mapping) {
    const bool is_digit = letter >= '0' && letter <= '9';
    if (is_digit && !in_number) numbers.push_back(0);
    if (is_digit) numbers.back() = 10 * numbers.back() + static_cast<std::uint64_t>(letter - '0');
    in_number = is_digit;
  }
  for (std::size_t i = 0; i + 2 < numbers.size(); i += 3)
    if (numbers[i] != numbers[0] || numbers[i + 1] > 1) return true;
  return false;
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

Result<std::string> PmiWire::find(std::string_view job, std::string_view key) {
  TUTTI_TRY_ASSIGN(const std::string line,
                   ask(fmt::format("cmd=get kvsname={} key={}", job, key), "get_result", kAnswer, true));
  return is_right(line) ? std::string(word_of(line, "value")) : std::string();
}

Status PmiWire::barrier(std::string_view what) {
  const Result<std::string> line = ask("cmd=barrier_in", "barrier_out", what);
  return line.ok() ? Status() : line.status();
}

Status PmiWire::finalize() {
  const Result<std::string> line = ask("cmd=finalize", "finalize_ack", kAnswer);
  return line.ok() ? Status() : line.status();
}

Result<std::string> PmiWire::ask(const std::string& question, std::string_view answer, std::string_view what,
                                 bool may_fail) {
  TUTTI_TRY(write_line(question));
  Result<std::string> line = read_line(what);
  if (!line.ok()) return line;
  if (word_of(*line, "cmd") != answer || !(may_fail || is_right(*line)))
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
