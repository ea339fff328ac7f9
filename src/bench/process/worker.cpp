// SPDX-License-Identifier: Apache-2.0
#include "bench/process/worker.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <system_error>
#include <thread>

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/limits.hpp"
#include "base/system/host.hpp"
#include "base/system/memory_limits.hpp"
#include "base/system/socket.hpp"
#include "base/text.hpp"
#include "base/unique_id.hpp"
#include "bench/hosts/ranks_on_hosts.hpp"
#include "bench/measure/meeting_place.hpp"
#include "bench/process/cores.hpp"
#include "bench/process/process_search.hpp"
#include "bench/process/session.hpp"

namespace tutti::harness {

namespace {

class NoBackend final : public Backend {
 public:
  Status begin(int rank, int num_ranks) override {
    rank_ = rank;
    num_ranks_ = num_ranks;
    return {};
  }
  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int num_ranks() const override { return num_ranks_; }

 private:
  int rank_ = 0;
  int num_ranks_ = 1;
};

constexpr std::chrono::seconds kPatienceWithRunner{30};

// So that a backend makes nothing more while what it has made is taken away.
extern "C" void stand_still(int) {
  while (true) ::pause();
}

// Ends the process when the runner goes or its launcher asks for it, whatever the main thread is doing, also where that
// is still in the midst of a backend's start: what the backend would leave behind is taken away.
class Watch {
 public:
  Watch(int socket, SyncPage& page) {
    sigset_t terminate;
    ::sigemptyset(&terminate);
    ::sigaddset(&terminate, SIGTERM);
    ::pthread_sigmask(SIG_BLOCK, &terminate, &before_);
    asked_ = UniqueFd(::signalfd(-1, &terminate, SFD_CLOEXEC | SFD_NONBLOCK));
    stopped_ = UniqueFd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (asked_.valid() && stopped_.valid()) thread_ = std::thread([this, socket, &page] { watch(socket, page); });
  }
  // False where the process has no descriptors left.
  [[nodiscard]] bool stands() const { return thread_.joinable(); }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  ~Watch() {
    if (thread_.joinable()) {
      ::eventfd_write(stopped_.get(), 1);
      thread_.join();
    }
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  // Sleeps until something happens: a tuning has many idle workers, and what they do disturbs what is measured.
  void watch(int socket, SyncPage& page) const {
    while (true) {
      std::array<pollfd, 3> waiting = {
          {{socket, POLLRDHUP, 0}, {asked_.get(), POLLIN, 0}, {stopped_.get(), POLLIN, 0}}};
      if (::poll(waiting.data(), waiting.size(), -1) <= 0) continue;
      if (waiting[2].revents != 0) return;
      if ((waiting[0].revents & (POLLRDHUP | POLLHUP | POLLERR)) == 0 && waiting[1].revents == 0) continue;
      page.end();
      clear_up();
      std::_Exit(1);
    }
  }

  void clear_up() const {
    // Should a lock that is needed below be held by what is stopped.
    ::alarm(1);
    struct sigaction action {};
    action.sa_handler = stand_still;
    ::sigaction(SIGRTMAX, &action, nullptr);
    ::pthread_kill(watched_, SIGRTMAX);
    Leftovers leftovers;
    leftovers.note({.pid = ::getpid(), .is_rank = true, .sessions = {}});
    leftovers.remove();
    // The other ranks do the same, and a launcher kills them as soon as one has gone.
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
  }

  pthread_t watched_ = ::pthread_self();
  sigset_t before_{};
  UniqueFd asked_;
  UniqueFd stopped_;
  std::thread thread_;
};

class Worker {
 public:
  Worker(const std::vector<Bench>& benches, Backend& backend, const Environment& environment)
      : benches_(benches), backend_(backend), environment_(environment) {}

  Status obey() {
    const Result<UniqueId> id = UniqueId::from_text(environment_.lookup(kWorkerVariable).value_or(""));
    if (!id.ok()) return id.status().with_context(std::string(kWorkerVariable));
    const Result<WorldRank> place = world_rank_in(environment_);
    if (!place.ok()) return place.status();
    place_ = *place;
    Result<UniqueFd> socket = connect_within(id->address(), Clock::now() + kPatienceWithRunner);
    if (!socket.ok()) return socket.status().with_context("cannot reach the runner");
    watch_silence(socket->get());
    connection_.emplace(std::move(*socket));
    connection_->trust();
    TUTTI_TRY_ASSIGN(const Host host, this_host(environment_.lookup("TUTTI_HOST_ID").value_or("")));
    TUTTI_TRY(connection_->send({{"hello", id->to_text()},
                                 {"rank", place_.rank},
                                 {"num_ranks", place_.num_ranks},
                                 {"pid", static_cast<std::int64_t>(::getpid())},
                                 {"host", to_json(here_of(host))}}));
    Result<Json> order = connection_->await();
    if (order.ok() && order->value("order", "") == "gather") {
      TUTTI_TRY(gather(*order));
      order = connection_->await();
    }
    if (!order.ok()) return order.status();
    if (order->value("order", "") == "leave") return {};
    const Status begun = begin(*order);
    if (!begun.ok()) return connection_->send({{"failed", begun.to_string()}});
    TUTTI_TRY(connection_->send({{"began", true},
                                 {"rank", backend_.rank()},
                                 {"num_ranks", backend_.num_ranks()},
                                 {"version", backend_.version()}}));
    return follow();
  }

 private:
  // The first rank of a host makes what the others there meet in; rank 0 lets the other hosts in.
  Status gather(const Json& order) {
    seat_ = seat_of(place_.rank, order.at("host_of").get<std::vector<int>>());
    Json answer = {{"gathered", true}, {"meeting_place", ""}, {"links", ""}};
    const auto prepare = [&]() -> Status {
      if (seat_.place != 0) return {};
      TUTTI_TRY_ASSIGN(page_, SyncPage::create(seat_.num_here));
      answer["meeting_place"] = page_.path();
      if (place_.rank != 0) return {};
      TUTTI_TRY_ASSIGN(const Address own, local_address(connection_->fd()));
      TUTTI_TRY_ASSIGN(links_, HostLinks::listen(own));
      answer["links"] = links_->id();
      return {};
    };
    const Status prepared = prepare();
    if (!prepared.ok()) answer = {{"failed", prepared.to_string()}};
    return connection_->send(answer);
  }

  Status begin(const Json& order) {
    if (order.value("order", "") != "begin") return {Code::invalid_usage, "the first order was not begin"};
    TUTTI_TRY(verify(order.at("settings")));
    const bool spans_hosts = order.contains("meeting_places");
    if (!spans_hosts) seat_ = seat_of(place_.rank, std::vector<int>(static_cast<std::size_t>(place_.num_ranks)));
    seat_.shares_cores = order.value("shares_cores", false);
    seat_.has_common_clock = order.value("has_common_clock", true);
    if (!spans_hosts || seat_.place != 0) {
      const auto path = spans_hosts
                            ? order.at("meeting_places").at(static_cast<std::size_t>(seat_.host())).get<std::string>()
                            : order.value("meeting_place", "");
      TUTTI_TRY_ASSIGN(page_, SyncPage::open(path, seat_.num_here));
    }
    if (order.contains("cores"))
      TUTTI_TRY(run_on(order.at("cores").at(static_cast<std::size_t>(place_.rank)).get<Core>()));
    backend_.take_settings(settings_in(order.at("settings")));
    try {
      watch_.emplace(connection_->fd(), page_);
      if (!watch_->stands()) return Status(Code::system, "there is no descriptor for the watch over the runner");
      if (spans_hosts && seat_.place == 0) TUTTI_TRY(link_hosts(order.value("links", "")));
      meeting_.emplace(page_, links_, seat_);
      if (spans_hosts) TUTTI_TRY(tell_backend());
      return backend_.begin(place_.rank, place_.num_ranks);
    } catch (const std::system_error& error) {  // of a thread that does not start
      return thread_refusal("of a worker", error.code().value());
    }
  }

  Status link_hosts(const std::string& id) {
    const int num_hosts = *std::max_element(seat_.host_of.begin(), seat_.host_of.end()) + 1;
    HostLinks::Waiting waiting{seat_.shares_cores, [this] { return page_.is_over(); }};
    if (place_.rank == 0) return links_->accept(num_hosts, std::move(waiting));
    TUTTI_TRY_ASSIGN(links_, HostLinks::connect(id, seat_.host(), std::move(waiting)));
    return {};
  }

  Status tell_backend() {
    TUTTI_TRY_ASSIGN(const Address own, local_address(connection_->fd()));
    backend_.take_hosts({.broadcast =
                             [this](std::string_view bytes, int root) {
                               std::optional<std::string> all = meeting_->broadcast(bytes, root);
                               return all ? Result<std::string>(std::move(*all))
                                          : Status(Code::aborted, "the group is being ended");
                             },
                         .own = own,
                         .place = seat_.place,
                         .num_here = seat_.num_here});
    return {};
  }

  [[nodiscard]] static std::vector<Setting> settings_in(const Json& settings) {
    std::vector<Setting> all;
    for (const Json& setting : settings) {
      Setting& each = all.emplace_back(Setting{setting.at(0).get<std::string>(), std::nullopt});
      if (!setting.at(1).is_null()) each.value = setting.at(1).get<std::string>();
    }
    return all;
  }

  // Whether launchers have handed the variables on as they were ordered.
  [[nodiscard]] Status verify(const Json& settings) const {
    for (const Json& setting : settings) {
      const auto name = setting.at(0).get<std::string>();
      const std::optional<std::string> found = environment_.lookup(name);
      std::optional<std::string> due;
      if (!setting.at(1).is_null()) due = setting.at(1).get<std::string>();
      if (found != due)
        return {Code::invalid_usage,
                fmt::format("{} is {} where it should be {}: the launcher did not hand it on", name,
                            found ? in_quotes(*found) : "unset", due ? in_quotes(*due) : "unset")};
    }
    return {};
  }

  Status follow() {
    while (true) {
      const Result<Json> order = connection_->await();
      if (!order.ok()) return order.status();
      const std::string what = order->value("order", "");
      if (what == "leave") {
        for (const Declaration* declaration : used_) Session(*connection_, backend_, *meeting_).tear_down(*declaration);
        backend_.end();
        return {};
      }
      if (what == "end") {  // of a case that has ended here already
        TUTTI_TRY(connection_->send({{"ended", true}}));
        continue;
      }
      if (what != "prepare")
        return {Code::invalid_usage, fmt::format("an order of {}, where prepare or leave was due", in_quotes(what))};
      TUTTI_TRY(Session(*connection_, backend_, *meeting_).run_case(*order, benches_, used_));
    }
  }

  const std::vector<Bench>& benches_;
  Backend& backend_;
  const Environment& environment_;
  WorldRank place_;
  std::optional<Connection> connection_;
  Seat seat_;
  SyncPage page_;
  std::optional<HostLinks> links_;
  std::optional<MeetingPlace> meeting_;
  std::vector<const Declaration*> used_;
  std::optional<Watch> watch_;  // ends before what it watches
};

}  // namespace

std::unique_ptr<Backend> no_backend() { return std::make_unique<NoBackend>(); }

bool is_worker(const Environment& environment) { return environment.lookup(kWorkerVariable).has_value(); }

int run_worker(const std::vector<Bench>& benches, Backend& backend, const Environment& environment) {
  try {
    const Status status = Worker(benches, backend, environment).obey();
    if (status.ok()) return 0;
    std::fprintf(stderr, "worker: %s\n", status.to_string().c_str());
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "worker: there is no memory left%s\n", memory_ulimits_text().c_str());
  } catch (const std::exception& thrown) {
    std::fprintf(stderr, "worker: %s\n", thrown.what());
  }
  return 1;
}

}  // namespace tutti::harness
