// SPDX-License-Identifier: Apache-2.0
#include "cli/web/server.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <httplib.h>
#include <poll.h>

#include "cli/web/connection.hpp"

namespace tutti::cli {

namespace {

// Served at a time. Others wait in the system's queue. A stream of events lasts as long as its page is looked at, so
// that some threads are always left for pages.
constexpr std::size_t kThreads = 24;
constexpr int kMostStreams = 12;
// A stream without news says now and then that it is alive.
constexpr std::chrono::seconds kSignOfLife{15};
constexpr std::chrono::milliseconds kGlances{200};

// A place among the streams, given back at its end.
class StreamPlace {
 public:
  explicit StreamPlace(std::atomic<int>& taken) : taken_(taken), has_place_(++taken <= kMostStreams) {}
  StreamPlace(const StreamPlace&) = delete;
  StreamPlace& operator=(const StreamPlace&) = delete;
  ~StreamPlace() { --taken_; }
  [[nodiscard]] bool has_place() const { return has_place_; }

 private:
  std::atomic<int>& taken_;
  const bool has_place_;
};

// What is written into one stream of events: the state that there is, and each that follows.
class Events {
 public:
  Events(const StoreWatch& watch, std::vector<std::int64_t> followed, const std::atomic<bool>& is_over)
      : watch_(watch), followed_(std::move(followed)), is_over_(is_over) {}

  // Once a while, until there is news. False at the end of the stream.
  bool write_next(httplib::DataSink& sink) {
    const Clock::time_point end = Clock::now() + kSignOfLife;
    while (!is_over_ && sink.is_writable()) {
      const std::shared_ptr<const StoreState> state = watch_.wait_for_other(number_.value_or(0), kGlances);
      std::string event;
      if (!number_ || state->number != *number_) event = WebSite::event_of(*state, followed_);
      number_ = state->number;
      if (!event.empty() && event != last_) {
        last_ = event;
        return put(sink, fmt::format("retry: 2000\ndata: {}\n\n", event));
      }
      if (Clock::now() > end) return put(sink, ":\n\n");
    }
    return false;
  }

 private:
  static bool put(httplib::DataSink& sink, const std::string& text) { return sink.write(text.data(), text.size()); }

  const StoreWatch& watch_;
  const std::vector<std::int64_t> followed_;
  const std::atomic<bool>& is_over_;
  std::optional<std::uint64_t> number_;
  std::string last_;
};

// A connection as cpp-httplib reads and writes it.
class Stream final : public httplib::Stream {
 public:
  explicit Stream(WebConnection& connection) : connection_(connection) {}

  [[nodiscard]] bool is_readable() const override { return connection_.is_readable(); }
  [[nodiscard]] bool is_writable() const override { return connection_.is_writable(); }
  ssize_t read(char* to, std::size_t size) override { return connection_.read(to, size); }
  ssize_t write(const char* from, std::size_t size) override { return connection_.write(from, size); }
  // It is always this machine.
  void get_remote_ip_and_port(std::string& ip, int& port) const override {
    ip = "127.0.0.1";
    port = 0;
  }
  void get_local_ip_and_port(std::string& ip, int& port) const override { get_remote_ip_and_port(ip, port); }
  [[nodiscard]] socket_t socket() const override { return connection_.socket(); }

 private:
  WebConnection& connection_;
};

WebRequest request_of(const httplib::Request& request) {
  WebRequest asked{.method = request.method, .path = request.path, .values = {}, .hosts = {}};
  for (const auto& [name, value] : request.params) asked.values.emplace(name, value);
  const auto [begin, end] = request.headers.equal_range("Host");
  for (auto each = begin; each != end; ++each) asked.hosts.push_back(each->second);
  return asked;
}

// cpp-httplib as reader of requests and writer of replies; connections are ours.
class Protocol : public httplib::Server {
 public:
  Protocol(int listener, const WebSite& site, const StoreWatch& watch, const std::atomic<bool>& is_over)
      : site_(site), watch_(watch), is_over_(is_over) {
    // It ends streams where it has no listener.
    svr_sock_ = listener;
    set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
      answer(request, response);
      return HandlerResponse::Handled;
    });
  }
  ~Protocol() override { svr_sock_ = INVALID_SOCKET; }
  Protocol(const Protocol&) = delete;
  Protocol& operator=(const Protocol&) = delete;

  void serve(UniqueFd socket) {
    WebConnection connection(std::move(socket), is_over_);
    Stream stream(connection);
    bool is_closed = false;
    static_cast<void>(process_request(stream, true, is_closed, [&](httplib::Request& request) {
      // Compressing takes longer than sending to the same machine, and parts of a page are of no use.
      request.headers.erase("Accept-Encoding");
      request.ranges.clear();
      if (request.path.ends_with("/events")) connection.reply_without_end();
    }));
  }

 private:
  void answer(const httplib::Request& request, httplib::Response& response) {
    const WebReply reply = site_.reply(request_of(request));
    response.status = reply.status;
    const std::pair<const char*, std::string> headers[] = {{"Content-Security-Policy", reply.policy},
                                                           {"X-Content-Type-Options", "nosniff"},
                                                           {"X-Frame-Options", "DENY"},
                                                           {"Referrer-Policy", "no-referrer"},
                                                           {"Cross-Origin-Resource-Policy", "same-origin"},
                                                           {"Cache-Control", "no-store"}};
    for (const auto& [name, value] : headers) response.set_header(name, value);
    if (reply.status == 405) response.set_header("Allow", "GET, HEAD");
    if (reply.is_events) return stream(reply, response);
    response.set_content(reply.body, reply.type);
  }

  void stream(const WebReply& reply, httplib::Response& response) {
    auto place = std::make_shared<StreamPlace>(num_streams_);
    if (!place->has_place()) {
      response.status = 503;
      response.set_content(fmt::format("{} pages are live already; close some\n", kMostStreams), "text/plain");
      return;
    }
    auto events = std::make_shared<Events>(watch_, reply.followed, is_over_);
    response.set_content_provider(
        reply.type, [place, events](std::size_t, httplib::DataSink& sink) { return events->write_next(sink); });
  }

  const WebSite& site_;
  const StoreWatch& watch_;
  const std::atomic<bool>& is_over_;
  std::atomic<int> num_streams_ = 0;
};

// Threads that serve connections, no more of these at a time than there are threads.
class Workers {
 public:
  explicit Workers(Protocol& protocol) : protocol_(protocol) {}
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;
  ~Workers() {
    {
      const std::lock_guard lock(mutex_);
      has_ended_ = true;
    }
    changed_.notify_all();
    for (std::thread& each : threads_) each.join();
  }

  [[nodiscard]] Status start() {
    try {
      while (threads_.size() < kThreads) threads_.emplace_back([this] { work(); });
    } catch (const std::system_error& error) {
      return {Code::system, fmt::format("cannot start a thread: {}", error.what())};
    }
    return {};
  }

  // Whether one is free, after a while at most.
  [[nodiscard]] bool wait_for_room() {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kGlances, [&] { return num_open_ < kThreads; });
  }
  void give(UniqueFd socket) {
    {
      const std::lock_guard lock(mutex_);
      waiting_.push_back(std::move(socket));
      ++num_open_;
    }
    changed_.notify_all();
  }

 private:
  void work() {
    while (true) {
      UniqueFd socket;
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return has_ended_ || !waiting_.empty(); });
        if (waiting_.empty()) return;
        socket = std::move(waiting_.front());
        waiting_.pop_front();
      }
      // What one request brings about must not end the others.
      try {
        protocol_.serve(std::move(socket));
      } catch (...) {  // NOLINT(bugprone-empty-catch)
      }
      {
        const std::lock_guard lock(mutex_);
        --num_open_;
      }
      changed_.notify_all();
    }
  }

  Protocol& protocol_;
  std::vector<std::thread> threads_;
  std::mutex mutex_;  // of what follows
  std::condition_variable changed_;
  std::deque<UniqueFd> waiting_;
  std::size_t num_open_ = 0;
  bool has_ended_ = false;
};

}  // namespace

bool has_web_server() { return true; }

Status serve(const Listener& listener, const WebSite& site, const StoreWatch& watch,
             const std::function<bool()>& is_over) {
  std::atomic<bool> has_ended = false;
  Protocol protocol(listener.socket.get(), site, watch, has_ended);
  Workers workers(protocol);
  Status status = workers.start();
  while (status.ok() && !is_over()) {
    if (!workers.wait_for_room()) continue;
    pollfd entry{.fd = listener.socket.get(), .events = POLLIN, .revents = 0};
    if (::poll(&entry, 1, static_cast<int>(kGlances.count())) <= 0) continue;
    Result<UniqueFd> socket = accept_from(listener.socket.get());
    if (socket.ok() && socket->valid()) workers.give(std::move(*socket));
    // Out of descriptors, most likely: whoever waits is served when others have ended.
    if (!socket.ok()) std::this_thread::sleep_for(kGlances);
  }
  has_ended = true;
  return status;
}

}  // namespace tutti::cli
