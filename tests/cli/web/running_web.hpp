// SPDX-License-Identifier: Apache-2.0
// `tutti web` as a process of its own, and connections to it. Killed with the object if it has not ended.
#pragma once

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tutti::cli::test {

extern const char* const kTuttiProgram;  // its path, which one source of each test defines

// A connection to a port of this machine. What it reads comes within some seconds, or is a failure.
class Connection {
 public:
  explicit Connection(int port, int receive_bytes = 0) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    if (receive_bytes > 0) ::setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &receive_bytes, sizeof receive_bytes);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  }
  Connection(Connection&& other) noexcept : socket_(std::exchange(other.socket_, -1)), text_(std::move(other.text_)) {}
  Connection& operator=(Connection&&) = delete;
  ~Connection() {
    if (socket_ >= 0) ::close(socket_);
  }

  // False where the other side has hung up.
  bool send(const std::string& text) {
    for (std::size_t at = 0; at < text.size();) {
      const ssize_t sent = ::send(socket_, text.data() + at, text.size() - at, MSG_NOSIGNAL);
      if (sent <= 0) return false;
      at += static_cast<std::size_t>(sent);
    }
    return true;
  }
  void end_sending() { ::shutdown(socket_, SHUT_WR); }

  // Up to where it hangs up.
  std::string read_all() {
    while (read_more()) {
    }
    return text_;
  }
  // Whether this comes; what came before is dropped.
  bool read_until(const std::string& words) {
    while (text_.find(words) == std::string::npos)
      if (!read_more()) return false;
    text_.erase(0, text_.find(words) + words.size());
    return true;
  }

 private:
  bool read_more() {
    constexpr int kPatience = 15'000;
    pollfd entry{.fd = socket_, .events = POLLIN, .revents = 0};
    if (::poll(&entry, 1, kPatience) != 1) {
      ADD_FAILURE() << "tutti web says nothing";
      return false;
    }
    char bytes[65536];
    const ssize_t count = ::recv(socket_, bytes, sizeof bytes, 0);
    if (count > 0) text_.append(bytes, static_cast<std::size_t>(count));
    return count > 0;
  }

  int socket_;
  std::string text_;
};

class RunningWeb {
 public:
  explicit RunningWeb(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {kTuttiProgram, "web"});
    int out[2];
    if (::pipe2(out, O_CLOEXEC) != 0) std::abort();
    process_ = ::fork();
    if (process_ == 0) {
      std::vector<char*> argv;
      for (std::string& each : arguments) argv.push_back(each.data());
      argv.push_back(nullptr);
      const int nothing = ::open("/dev/null", O_RDWR);
      ::dup2(nothing, STDERR_FILENO);
      ::dup2(out[1], STDOUT_FILENO);
      ::execv(kTuttiProgram, argv.data());
      ::_exit(127);
    }
    ::close(out[1]);
    char letter = 0;
    while (::read(out[0], &letter, 1) == 1 && letter != '\n') address_ += letter;
    ::close(out[0]);
    const std::size_t colon = address_.find(':', 5);
    const std::size_t slash = address_.find('/', 8);
    if (colon == std::string::npos || slash == std::string::npos) return;
    port_ = std::atoi(address_.substr(colon + 1, slash - colon - 1).c_str());
    home_ = address_.substr(slash);
  }
  RunningWeb(const RunningWeb&) = delete;
  RunningWeb& operator=(const RunningWeb&) = delete;
  ~RunningWeb() {
    if (process_ <= 0) return;
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
  }

  [[nodiscard]] const std::string& address() const { return address_; }  // empty if it has not begun
  [[nodiscard]] const std::string& home() const { return home_; }
  [[nodiscard]] int port() const { return port_; }

  [[nodiscard]] Connection connect(int receive_bytes = 0) const { return Connection(port_, receive_bytes); }
  [[nodiscard]] std::string head(const std::string& path, const std::string& more = "") const {
    return fmt::format("GET {} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n{}\r\n", path, port_, more);
  }
  // The whole reply.
  [[nodiscard]] std::string get(const std::string& path, const std::string& more = "") const {
    Connection connection = connect();
    connection.send(head(path, more));
    return connection.read_all();
  }

  [[nodiscard]] bool is_alive() const { return ::kill(process_, 0) == 0 && ::waitpid(process_, nullptr, WNOHANG) == 0; }

  struct End {
    int exit = -1;
    std::chrono::milliseconds took{};
  };
  End end(int signal = SIGINT) {
    const auto begun = std::chrono::steady_clock::now();
    ::kill(process_, signal);
    int status = 0;
    ::waitpid(std::exchange(process_, 0), &status, 0);
    const auto took = std::chrono::steady_clock::now() - begun;
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, std::chrono::duration_cast<std::chrono::milliseconds>(took)};
  }

 private:
  pid_t process_ = 0;
  std::string address_;
  std::string home_;
  int port_ = 0;
};

}  // namespace tutti::cli::test
