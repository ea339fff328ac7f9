// SPDX-License-Identifier: Apache-2.0
#include "launch/process_group.hpp"

#include <cerrno>
#include <memory>
#include <ostream>

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include "base/system/socket.hpp"
#include "base/text.hpp"
#include "launch/ending.hpp"
#include "launch/rank_processes.hpp"
#include "launch/signals.hpp"
#include "launch/streams.hpp"
#include "runtime/bootstrap/rendezvous.hpp"

namespace tutti::launch {

namespace {

class Group {
 public:
  Group(const GroupOptions& options, std::ostream& out, std::ostream& error)
      : options_(options),
        out_(out),
        error_(error),
        processes_({.ranks = {.count = options.num_ranks, .total = options.num_ranks},
                    .command = options.command,
                    .environment = options.environment,
                    .bind_to_cores = options.bind_to_cores,
                    .capture_output = options.tag,
                    .pump_input = isatty(STDIN_FILENO) != 0,
                    .signal_mask = signals_.before()}),
        writer_(options.tag, out, error),
        ending_({options.timeout, options.grace},
                {[this](int signal) { processes_.signal_all(signal); }, [this] { return processes_.running(); }},
                error) {}

  Result<int> run();

 private:
  void wait_once();
  void obey_signals();

  const GroupOptions& options_;
  std::ostream& out_;
  std::ostream& error_;
  Signals signals_;
  std::unique_ptr<RendezvousServer> server_;
  RankProcesses processes_;
  OutputWriter writer_;
  Ending ending_;
  const TakeOutput take_ = [this](const RankOutput& output) { writer_.take(output); };
};

Result<int> Group::run() {
  TUTTI_TRY_ASSIGN(server_, RendezvousServer::start());
  TUTTI_TRY_ASSIGN(const int refused, processes_.start(server_->id()));
  if (refused != 0) {
    const std::string what = fmt::format("tutti launch: cannot run {}", in_quotes(options_.command.front()));
    error_ << Status::from_errno(what, refused).message() << '\n';
    processes_.kill_all_at_end();
    return refused == ENOENT ? kNotFound : kNotRunnable;
  }
  while (!processes_.running().empty()) wait_once();
  for (RankStream& stream : processes_.streams()) stream.drain(take_);
  writer_.finish();
  if (ending_.exit_code() != 0) processes_.kill_all_at_end();
  return ending_.exit_code();
}

void Group::wait_once() {
  InputPump& input = processes_.input();
  std::vector<RankStream>& streams = processes_.streams();
  std::vector<pollfd> fds = {{signals_.fd(), POLLIN, 0},
                             {input.wants_input() ? STDIN_FILENO : -1, POLLIN, 0},
                             {input.pending.empty() ? -1 : input.writer.get(), POLLOUT, 0}};
  const std::size_t first_stream = fds.size();
  for (const RankStream& stream : streams) fds.push_back({stream.fd.get(), POLLIN, 0});
  if (poll(fds.data(), fds.size(), poll_timeout(ending_.next_step(), Clock::now())) < 0) return;  // EINTR
  if (fds[1].revents != 0) input.read_some();
  if (fds[2].revents != 0) input.write_some();
  for (std::size_t i = 0; i < streams.size(); ++i) {
    if (fds[first_stream + i].revents != 0) streams[i].pump(take_);
  }
  if ((!out_.good() || !error_.good()) && Signals::has_broken_pipe()) ending_.note_lost_reader();
  if (fds[0].revents != 0) obey_signals();
  const bool is_due = ending_.next_step() && Clock::now() >= *ending_.next_step();
  if (is_due && !processes_.running().empty()) ending_.escalate();
}

void Group::obey_signals() {
  while (const int signal = signals_.take()) {
    if (signal == SIGCHLD) {
      processes_.note_ends([this](const RankEnd& end) { ending_.note_end(end); });
    } else {
      ending_.obey(signal);
    }
  }
}

}  // namespace

Result<int> run_group(const GroupOptions& options, std::ostream& out, std::ostream& error) {
  out.flush();
  error.flush();
  return Group(options, out, error).run();
}

}  // namespace tutti::launch
