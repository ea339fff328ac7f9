// SPDX-License-Identifier: Apache-2.0
#include "launch/remote_ranks.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include "base/system/socket.hpp"
#include "base/text.hpp"
#include "launch/frames.hpp"
#include "launch/rank_processes.hpp"
#include "launch/signals.hpp"

namespace tutti::launch {

namespace {

constexpr std::size_t kMostUnsent = 1 << 20;  // ranks that print more wait until the launcher has read
constexpr std::chrono::seconds kOrderPatience{60};

class RemoteLauncher {
 public:
  RemoteLauncher(const Environment& environment, std::string_view version)
      : environment_(environment), version_(version) {}

  Status run();

 private:
  Result<Order> await_order();
  Status start(const Order& order);
  Status serve();
  void wait_once(std::optional<Clock::time_point> deadline);
  void read_frames();
  Status obey_frames();
  void obey(const Frame& frame);
  void obey_signals();
  void note_end(const RankEnd& end);
  void take_input();
  void finish();
  void send_some();
  [[nodiscard]] bool has_room() const { return unsent_.size() < kMostUnsent; }

  const Environment& environment_;
  std::string_view version_;
  Signals signals_;
  FrameReader reader_;
  std::string unsent_;
  bool is_alone_ = false;    // the launcher is gone, or is done with this host
  bool owes_taken_ = false;  // input that is to be acknowledged
  bool ends_input_ = false;
  std::unique_ptr<RankProcesses> ranks_;
  const TakeOutput take_ = [this](const RankOutput& output) {
    const FrameType type = output.is_error ? FrameType::error_output : FrameType::output;
    unsent_ += encode(type, static_cast<std::uint32_t>(output.rank), output.bytes);
  };
};

Status RemoteLauncher::run() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO}) fcntl(stream, F_SETFL, fcntl(stream, F_GETFL) | O_NONBLOCK);
  unsent_ = encode(FrameType::greeting, 0, version_);
  Status status;
  if (Result<Order> order = await_order(); !order.ok()) {
    status = order.status();
  } else {
    status = start(*order);
  }
  if (!status.ok()) unsent_ += encode(FrameType::failed, 0, status.to_string().substr(0, kMostPayload));
  if (status.ok()) status = serve();
  finish();
  return status;
}

Result<Order> RemoteLauncher::await_order() {
  const auto deadline = Clock::now() + kOrderPatience;
  while (true) {
    TUTTI_TRY_ASSIGN(const std::optional<Frame> frame, reader_.next());
    if (frame && frame->type == FrameType::order) return decode_order(frame->bytes, version_);
    if (frame) return wrong_argument("standard input begins with no order");
    if (is_alone_) {
      return wrong_argument(fmt::format("standard input ended after {} bytes of an order", reader_.unread()));
    }
    if (Clock::now() >= deadline) return Status(Code::timeout, "no order came within a minute");
    wait_once(deadline);
  }
}

Status RemoteLauncher::start(const Order& order) {
  if (chdir(order.folder.c_str()) != 0)
    return Status::from_errno(fmt::format("cannot work in {}", in_quotes(order.folder)), errno);
  RankProcesses::Options options{.ranks = order.ranks,
                                 .command = order.command,
                                 .environment = environment_,
                                 .bind_to_cores = order.bind_to_cores,
                                 .capture_output = true,
                                 .pump_input = true,
                                 .signal_mask = signals_.before()};
  for (const auto& [name, value] : order.variables) options.environment.set(name, value);
  ranks_ = std::make_unique<RankProcesses>(std::move(options));
  TUTTI_TRY_ASSIGN(const int refused, ranks_->start(order.id));
  if (refused == 0) return {};
  unsent_ += encode(FrameType::refused, static_cast<std::uint32_t>(refused));
  ranks_->kill_all_at_end();
  ranks_->signal_all(SIGKILL);
  return {};
}

Status RemoteLauncher::serve() {
  while (!is_alone_ && !ranks_->running().empty()) {
    TUTTI_TRY(obey_frames());
    wait_once({});
  }
  for (RankStream& stream : ranks_->streams()) stream.drain(take_);
  if (is_alone_) ranks_->kill_all_at_end();
  return {};
}

// Until all is said, unless nobody hears it.
void RemoteLauncher::finish() {
  ranks_.reset();
  while (!is_alone_ && !unsent_.empty()) {
    std::array<pollfd, 2> fds = {pollfd{STDOUT_FILENO, POLLOUT, 0}, pollfd{STDIN_FILENO, POLLIN, 0}};
    if (poll(fds.data(), fds.size(), -1) < 0) continue;  // EINTR
    if (fds[0].revents != 0) send_some();
    if (fds[1].revents != 0) read_frames();
  }
}

void RemoteLauncher::wait_once(std::optional<Clock::time_point> deadline) {
  std::vector<RankStream> none;
  std::vector<RankStream>& streams = ranks_ ? ranks_->streams() : none;
  const bool has_input = ranks_ && !ranks_->input().pending.empty();
  std::vector<pollfd> fds = {{signals_.fd(), POLLIN, 0},
                             {STDIN_FILENO, POLLIN, 0},
                             {unsent_.empty() ? -1 : STDOUT_FILENO, POLLOUT, 0},
                             {has_input ? ranks_->input().writer.get() : -1, POLLOUT, 0}};
  const std::size_t first_stream = fds.size();
  for (const RankStream& stream : streams) fds.push_back({has_room() ? stream.fd.get() : -1, POLLIN, 0});
  if (poll(fds.data(), fds.size(), poll_timeout(deadline, Clock::now())) < 0) return;  // EINTR
  for (std::size_t i = 0; i < streams.size(); ++i) {
    if (fds[first_stream + i].revents != 0) streams[i].pump(take_);
  }
  if (fds[0].revents != 0) obey_signals();
  if (fds[1].revents != 0) read_frames();
  if (fds[3].revents != 0) take_input();
  if (!unsent_.empty()) send_some();
}

void RemoteLauncher::read_frames() {
  std::array<char, 4096> bytes{};
  const ssize_t got = read(STDIN_FILENO, bytes.data(), bytes.size());
  if (got > 0) reader_.add({bytes.data(), static_cast<std::size_t>(got)});
  if (got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN)) is_alone_ = true;
}

Status RemoteLauncher::obey_frames() {
  while (true) {
    Result<std::optional<Frame>> frame = reader_.next();
    if (!frame.ok()) return frame.status().with_context("what came behind the order is no frame");
    if (!*frame) return {};
    obey(**frame);
  }
}

void RemoteLauncher::obey(const Frame& frame) {
  InputPump& input = ranks_->input();
  if (frame.type == FrameType::signal) {
    ranks_->signal_all(static_cast<int>(frame.number));
  } else if (frame.type == FrameType::input && input.writer.valid()) {
    input.pending += frame.bytes;
    owes_taken_ = true;
    take_input();
  } else if (frame.type == FrameType::input_end) {
    ends_input_ = true;
    take_input();
  }
}

void RemoteLauncher::take_input() {
  InputPump& input = ranks_->input();
  if (input.writer.valid() && !input.pending.empty()) input.write_some();
  if (!input.writer.valid())
    input.pending.clear();  // rank 0 has closed it: what comes is of no use, and is not held up
  if (!input.pending.empty()) return;
  if (owes_taken_ && input.writer.valid()) unsent_ += encode(FrameType::input_taken, 0);
  owes_taken_ = false;
  if (ends_input_) input.writer.reset();
}

void RemoteLauncher::obey_signals() {
  while (const int signal = signals_.take()) {
    if (!ranks_) {
      if (signal != SIGCHLD) is_alone_ = true;
    } else if (signal == SIGCHLD) {
      ranks_->note_ends([this](const RankEnd& end) { note_end(end); });
    } else {
      ranks_->signal_all(signal);
    }
  }
}

// What the rank has printed comes before its end.
void RemoteLauncher::note_end(const RankEnd& end) {
  for (RankStream& stream : ranks_->streams()) {
    if (stream.rank == end.rank && stream.fd.valid()) stream.pump(take_);
  }
  if (!end.is_well()) ranks_->kill_all_at_end();
  unsent_ += encode(end);
}

void RemoteLauncher::send_some() {
  const ssize_t put = write(STDOUT_FILENO, unsent_.data(), unsent_.size());
  if (put > 0) unsent_.erase(0, static_cast<std::size_t>(put));
  if (put < 0 && errno != EINTR && errno != EAGAIN) is_alone_ = true;
}

// A terminal would put a carriage return in front of each newline.
void keep_bytes_as_they_are(int terminal) {
  termios modes{};
  if (tcgetattr(terminal, &modes) != 0) return;
  modes.c_oflag &= ~static_cast<tcflag_t>(OPOST);
  tcsetattr(terminal, TCSANOW, &modes);
}

}  // namespace

Status serve_launcher(const Environment& environment, std::string_view version) {
  // Of both, only standard input tells a person from an agent: some agents have a terminal take the output.
  if (isatty(STDIN_FILENO) != 0) {
    return {Code::invalid_usage, "--remote is how the command starts ranks on other hosts; leave it out"};
  }
  keep_bytes_as_they_are(STDOUT_FILENO);
  return RemoteLauncher(environment, version).run();
}

}  // namespace tutti::launch
