// SPDX-License-Identifier: Apache-2.0
#include "launch/streams.hpp"

#include <array>
#include <cerrno>
#include <ostream>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

namespace tutti::launch {

namespace {

constexpr std::size_t kMostLine = 64 << 10;  // a longer line is passed on in parts

void print_line(std::ostream& to, int rank, std::string& line) {
  to << fmt::format("[{}] {}\n", rank, line);
  line.clear();
}

}  // namespace

Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return Status::from_errno("cannot make a pipe", errno);
  return Pipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

void RankStream::pump(const TakeOutput& take) {
  std::array<char, kMostAtOnce> bytes{};
  const ssize_t got = read(fd.get(), bytes.data(), bytes.size());
  if (got > 0) {
    take({rank, is_error, {bytes.data(), static_cast<std::size_t>(got)}});
  } else if (got == 0 || (errno != EINTR && errno != EAGAIN)) {
    fd.reset();
  }
}

void RankStream::drain(const TakeOutput& take) {
  const int room = fd.valid() ? fcntl(fd.get(), F_GETPIPE_SZ) : 0;
  for (int taken = 0; fd.valid() && taken <= room; taken += kMostAtOnce) pump(take);
  fd.reset();
}

void OutputWriter::take(const RankOutput& output) {
  std::ostream& to = output.is_error ? error_ : out_;
  if (tag_) {
    take_line_by_line(output, to);
  } else {
    to << output.bytes;
  }
  to.flush();
}

void OutputWriter::take_line_by_line(const RankOutput& output, std::ostream& to) {
  std::string& line = lines_[{output.rank, output.is_error}];
  for (const char c : output.bytes) {
    if (c == '\n' || line.size() >= kMostLine) print_line(to, output.rank, line);
    if (c != '\n') line += c;
  }
}

void OutputWriter::finish() {
  for (auto& [who, line] : lines_) {
    if (!line.empty()) print_line(who.second ? error_ : out_, who.first, line);
  }
  out_.flush();
  error_.flush();
}

void InputPump::read_some() {
  std::array<char, 4096> bytes{};
  const ssize_t got = read(STDIN_FILENO, bytes.data(), bytes.size());
  if (got > 0) {
    pending.assign(bytes.data(), static_cast<std::size_t>(got));
    write_some();
  } else if (got == 0 || (errno != EINTR && errno != EAGAIN)) {
    writer.reset();
  }
}

void InputPump::write_some() {
  const ssize_t put = write(writer.get(), pending.data(), pending.size());
  if (put > 0) pending.erase(0, static_cast<std::size_t>(put));
  if (put < 0 && errno != EINTR && errno != EAGAIN) writer.reset();
}

}  // namespace tutti::launch
