// SPDX-License-Identifier: Apache-2.0
// Which of the system's ways of using a TCP socket is the fastest: what the transport's design rests on
// (docs/decisions/0077). Two processes, a core each. Each way takes turns with spinning, which reads again and again
// without blocking, and is shown as a ratio to it, with the non-parametric 95 % interval. No result passes or fails.
//
// sockets [ADDRESS [NAMESPACE]]: the IPv4 address of this host to go over, 127.0.0.1 by default; the second process
// enters that network namespace (of /run/netns) first.
#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/errqueue.h>
#include <linux/io_uring.h>
#include <poll.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/system/socket.hpp"

namespace {

using tutti::Clock;

constexpr std::size_t kLong = 128 << 10;
constexpr std::size_t kDepth = 8;  // buffers, used in turn; io_uring moves so many messages in one call
constexpr std::size_t kBlockBytes = 48 << 20;
constexpr int kRoundTrips = 400;
constexpr int kBlocks = 30;

[[noreturn]] void fail(std::string_view words) {
  fmt::print(stderr, "sockets: {}\n", words);
  std::_Exit(2);
}

// How one end writes and reads whole messages.
class Way {
 public:
  explicit Way(int socket) : socket_(socket), sent_(kLong * kDepth), got_(kLong * kDepth) {}
  Way(const Way&) = delete;
  Way& operator=(const Way&) = delete;
  virtual ~Way() = default;
  virtual void write(std::size_t bytes, std::size_t count) = 0;
  virtual void read(std::size_t bytes, std::size_t count) = 0;
  // What is worth knowing at the end.
  [[nodiscard]] virtual std::string note() const { return ""; }

 protected:
  template <typename Wait>
  void write_all(std::size_t turn, std::size_t bytes, int flags, const Wait& wait) {
    for (std::size_t done = 0; done < bytes;) {
      const ssize_t put =
          ::send(socket_, sent_.data() + turn % kDepth * kLong + done, bytes - done, MSG_NOSIGNAL | flags);
      if (put < 0 && errno == EAGAIN) {
        wait(false);
        continue;
      }
      if (put <= 0) fail("the connection broke");
      done += static_cast<std::size_t>(put);
    }
  }
  template <typename Wait>
  void read_all(std::size_t turn, std::size_t bytes, int flags, const Wait& wait) {
    for (std::size_t done = 0; done < bytes;) {
      const ssize_t got = ::recv(socket_, got_.data() + turn % kDepth * kLong + done, bytes - done, flags);
      if (got < 0 && errno == EAGAIN) {
        wait(true);
        continue;
      }
      if (got <= 0) fail("the connection broke");
      done += static_cast<std::size_t>(got);
    }
  }

  int socket_;
  std::vector<char> sent_;
  std::vector<char> got_;
};

class Spinning : public Way {
 public:
  using Way::Way;
  void write(std::size_t bytes, std::size_t count) override {
    for (std::size_t i = 0; i < count; ++i) write_all(i, bytes, MSG_DONTWAIT, [](bool) {});
  }
  void read(std::size_t bytes, std::size_t count) override {
    for (std::size_t i = 0; i < count; ++i) read_all(i, bytes, MSG_DONTWAIT, [](bool) {});
  }
};

class Blocking final : public Way {
 public:
  using Way::Way;
  void write(std::size_t bytes, std::size_t count) override {
    for (std::size_t i = 0; i < count; ++i) write_all(i, bytes, 0, [](bool) {});
  }
  void read(std::size_t bytes, std::size_t count) override {
    for (std::size_t i = 0; i < count; ++i) read_all(i, bytes, 0, [](bool) {});
  }
};

// Asks epoll after each call that finds the socket not ready, without sleeping.
class Polling final : public Way {
 public:
  explicit Polling(int socket) : Way(socket), poller_(epoll_create1(EPOLL_CLOEXEC)) {
    epoll_event event{};
    event.events = EPOLLIN | EPOLLOUT | EPOLLET;
    if (epoll_ctl(poller_, EPOLL_CTL_ADD, socket, &event) != 0) fail("no epoll");
  }
  ~Polling() override { close(poller_); }
  void write(std::size_t bytes, std::size_t count) override {
    for (std::size_t i = 0; i < count; ++i) write_all(i, bytes, MSG_DONTWAIT, [this](bool) { look(); });
  }
  void read(std::size_t bytes, std::size_t count) override {
    for (std::size_t i = 0; i < count; ++i) read_all(i, bytes, MSG_DONTWAIT, [this](bool) { look(); });
  }

 private:
  void look() const {
    std::array<epoll_event, 4> events{};
    while (epoll_wait(poller_, events.data(), static_cast<int>(events.size()), 0) == 0) continue;
  }
  int poller_;
};

// MSG_ZEROCOPY: the system sends from the program's pages, and says when it no longer needs them, and whether it has
// copied them after all.
class ZeroCopy final : public Spinning {
 public:
  explicit ZeroCopy(int socket) : Spinning(socket) {
    const int yes = 1;
    if (setsockopt(socket, SOL_SOCKET, SO_ZEROCOPY, &yes, sizeof yes) != 0) fail("no SO_ZEROCOPY");
  }
  void write(std::size_t bytes, std::size_t count) override {
    if (bytes < kLong) return Spinning::write(bytes, count);
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t done = 0; done < bytes;) {
        const ssize_t put = ::send(socket_, sent_.data() + i % kDepth * kLong + done, bytes - done,
                                   MSG_NOSIGNAL | MSG_DONTWAIT | MSG_ZEROCOPY);
        if (put < 0 && (errno == EAGAIN || errno == ENOBUFS)) {
          reap();
          continue;
        }
        if (put <= 0) fail("the connection broke");
        ++pending_;
        done += static_cast<std::size_t>(put);
      }
    }
    while (pending_ > 0) reap();
  }
  [[nodiscard]] std::string note() const override {
    return all_ == 0 ? "" : fmt::format("{} of {} sends were copied all the same", copied_, all_);
  }

 private:
  void reap() {
    std::array<char, 128> control{};
    msghdr message{};
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    if (recvmsg(socket_, &message, MSG_ERRQUEUE | MSG_DONTWAIT) < 0) return;
    const cmsghdr* const header = CMSG_FIRSTHDR(&message);
    if (header == nullptr) return;
    const auto* const error = reinterpret_cast<const sock_extended_err*>(CMSG_DATA(header));
    const std::uint64_t ended = error->ee_data - error->ee_info + 1;
    all_ += ended;
    if ((error->ee_code & SO_EE_CODE_ZEROCOPY_COPIED) != 0) copied_ += ended;
    pending_ -= ended;
  }

  std::uint64_t pending_ = 0;
  std::uint64_t all_ = 0;
  std::uint64_t copied_ = 0;
};

// io_uring by its system calls: up to kDepth whole messages are handed over in one call, which waits for all of them.
class Uring final : public Way {
 public:
  explicit Uring(int socket) : Way(socket) {
    io_uring_params params{};
    ring_ = static_cast<int>(syscall(__NR_io_uring_setup, 2 * kDepth, &params));
    if (ring_ < 0 || (params.features & IORING_FEAT_SINGLE_MMAP) == 0) fail("no io_uring");
    const std::size_t size = std::max(params.sq_off.array + params.sq_entries * sizeof(std::uint32_t),
                                      params.cq_off.cqes + params.cq_entries * sizeof(io_uring_cqe));
    rings_ = static_cast<char*>(map(size, IORING_OFF_SQ_RING));
    entries_ = static_cast<io_uring_sqe*>(map(params.sq_entries * sizeof(io_uring_sqe), IORING_OFF_SQES));
    tail_ = at(params.sq_off.tail);
    mask_ = *at(params.sq_off.ring_mask);
    array_ = at(params.sq_off.array);
    done_head_ = at(params.cq_off.head);
    done_tail_ = at(params.cq_off.tail);
    done_mask_ = *at(params.cq_off.ring_mask);
    done_ = reinterpret_cast<io_uring_cqe*>(rings_ + params.cq_off.cqes);
  }
  ~Uring() override { close(ring_); }

  void write(std::size_t bytes, std::size_t count) override { move(IORING_OP_SEND, address_of(sent_), bytes, count); }
  void read(std::size_t bytes, std::size_t count) override { move(IORING_OP_RECV, address_of(got_), bytes, count); }

 private:
  void* map(std::size_t size, std::uint64_t offset) const {
    void* const memory =
        mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring_, static_cast<off_t>(offset));
    if (memory == MAP_FAILED) fail("io_uring's memory cannot be mapped");
    return memory;
  }
  [[nodiscard]] std::uint32_t* at(std::uint32_t offset) const {
    return reinterpret_cast<std::uint32_t*>(rings_ + offset);
  }

  static std::uintptr_t address_of(const std::vector<char>& memory) {
    return reinterpret_cast<std::uintptr_t>(memory.data());
  }

  void move(std::uint8_t operation, std::uintptr_t memory, std::size_t bytes, std::size_t count) {
    for (std::size_t begun = 0; begun < count;) {
      const std::size_t now = std::min(kDepth, count - begun);
      for (std::size_t i = 0; i < now; ++i) add(operation, memory + i * kLong, bytes, i + 1 < now);
      std::size_t ended = 0;
      std::size_t to_submit = now;
      while (ended < now) {
        if (syscall(__NR_io_uring_enter, ring_, to_submit, now - ended, IORING_ENTER_GETEVENTS, nullptr, 0) < 0 &&
            errno != EINTR)
          fail("io_uring_enter failed");
        to_submit = 0;
        ended += reap(bytes);
      }
      begun += now;
    }
  }

  void add(std::uint8_t operation, std::uintptr_t memory, std::size_t bytes, bool has_next) {
    const std::uint32_t tail = *tail_;
    io_uring_sqe& entry = entries_[tail & mask_];
    entry = {};
    entry.opcode = operation;
    entry.fd = socket_;
    entry.addr = memory;
    entry.len = static_cast<std::uint32_t>(bytes);
    entry.msg_flags = MSG_WAITALL | MSG_NOSIGNAL;
    entry.flags = has_next ? IOSQE_IO_LINK : 0;
    array_[tail & mask_] = tail & mask_;
    std::atomic_ref(*tail_).store(tail + 1, std::memory_order_release);
  }

  std::size_t reap(std::size_t bytes) const {
    std::size_t count = 0;
    std::uint32_t head = *done_head_;
    for (; head != std::atomic_ref(*done_tail_).load(std::memory_order_acquire); ++head, ++count)
      if (done_[head & done_mask_].res != static_cast<std::int32_t>(bytes)) fail("io_uring moved a part only");
    std::atomic_ref(*done_head_).store(head, std::memory_order_release);
    return count;
  }

  int ring_ = -1;
  char* rings_ = nullptr;
  io_uring_sqe* entries_ = nullptr;
  std::uint32_t* tail_ = nullptr;
  std::uint32_t mask_ = 0;
  std::uint32_t* array_ = nullptr;
  std::uint32_t* done_head_ = nullptr;
  std::uint32_t* done_tail_ = nullptr;
  std::uint32_t done_mask_ = 0;
  io_uring_cqe* done_ = nullptr;
};

// Microseconds of half a round trip of 8 bytes, or GB/s of long messages one way.
double block_of(Way& way, bool is_first, bool is_long) {
  const Clock::time_point start = Clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  if (!is_long) {
    for (int i = 0; i < kRoundTrips; ++i) {
      if (is_first) way.write(8, 1);
      way.read(8, 1);
      if (!is_first) way.write(8, 1);
    }
    return seconds() / kRoundTrips / 2 * 1e6;
  }
  constexpr std::size_t kCount = kBlockBytes / kLong;
  is_first ? way.write(kLong, kCount) : way.read(kLong, kCount);
  is_first ? way.read(1, 1) : way.write(1, 1);
  return static_cast<double>(kLong * kCount) / seconds() / 1e9;
}

double at_rank(const std::vector<double>& sorted, double rank) {
  return sorted[static_cast<std::size_t>(std::clamp(rank, 0.0, static_cast<double>(sorted.size() - 1)))];
}

void measure(const char* name, Way& way, Way& usual, bool is_first, bool is_long) {
  std::vector<double> values, ratios;
  for (int block = -2; block < kBlocks; ++block) {
    const double a = block_of(usual, is_first, is_long);
    const double b = block_of(way, is_first, is_long);
    if (block < 0) continue;  // warms up
    values.push_back(b);
    ratios.push_back(is_long ? b / a : a / b);
  }
  if (!is_first) return;
  std::sort(values.begin(), values.end());
  std::sort(ratios.begin(), ratios.end());
  const double middle = kBlocks / 2.0;
  const double half = 0.98 * std::sqrt(kBlocks);  // 1.96 standard deviations of a fair coin, in ranks
  fmt::print("{:28} {:14} {:>6.2f} {:>6.2f}  [{:.2f}, {:.2f}]  {}\n",
             is_long ? "128 KB one way (GB/s)" : "8 B, half a round trip (us)", name, at_rank(values, middle),
             at_rank(ratios, middle), at_rank(ratios, middle - half), at_rank(ratios, middle + half), way.note());
  std::fflush(stdout);
}

int run(int socket, bool is_first) {
  cpu_set_t core;
  CPU_ZERO(&core);
  CPU_SET(is_first ? 0 : 1, &core);
  sched_setaffinity(0, sizeof core, &core);
  Spinning usual(socket);
  Blocking blocking(socket);
  Polling polling(socket);
  ZeroCopy zero_copy(socket);
  Uring uring(socket);
  if (is_first) fmt::print("{:28} {:14} {:>6} {:>6}  times as fast as spinning: median, interval\n", "", "", "", "");
  for (const bool is_long : {false, true}) {
    measure("spinning", usual, usual, is_first, is_long);
    measure("blocking", blocking, usual, is_first, is_long);
    measure("epoll", polling, usual, is_first, is_long);
    measure("MSG_ZEROCOPY", zero_copy, usual, is_first, is_long);
    measure("io_uring", uring, usual, is_first, is_long);
  }
  return 0;
}

void enter(const char* space) {
  const int file = open(fmt::format("/run/netns/{}", space).c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0 || setns(file, CLONE_NEWNET) != 0) fail(fmt::format("cannot enter the namespace {}", space));
  close(file);
}

tutti::UniqueFd connected(const tutti::Listener& listener, bool is_first) {
  tutti::UniqueFd socket;
  if (!is_first) {
    auto begun = tutti::begin_connect(listener.address);
    if (!begun.ok()) fail(begun.status().to_string());
    socket = std::move(begun).value();
  }
  while (!socket.valid()) {
    auto accepted = tutti::accept_from(listener.socket.get());
    if (!accepted.ok()) fail(accepted.status().to_string());
    socket = std::move(accepted).value();
  }
  fcntl(socket.get(), F_SETFL, fcntl(socket.get(), F_GETFL) & ~O_NONBLOCK);
  return socket;
}

}  // namespace

int main(int argc, char** argv) {
  tutti::Address address{.family = tutti::Address::Family::ipv4};
  if (argc > 3 || inet_pton(AF_INET, argc > 1 ? argv[1] : "127.0.0.1", address.bytes.data()) != 1)
    fail("usage: sockets [ADDRESS [NAMESPACE]], an IPv4 address of this host");
  auto listener = tutti::listen_at(address);
  if (!listener.ok()) fail(listener.status().to_string());
  const pid_t child = fork();
  if (child < 0) fail("cannot start a second process");
  const bool is_first = child != 0;
  if (!is_first && argc == 3) enter(argv[2]);
  {
    const tutti::UniqueFd socket = connected(*listener, is_first);
    if (!is_first) return run(socket.get(), false);
    run(socket.get(), true);
  }
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : 2;
}
