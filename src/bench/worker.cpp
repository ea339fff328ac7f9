#include "bench/worker.hpp"

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include "base/socket.hpp"
#include "base/text.hpp"
#include "base/unique_id.hpp"
#include "base/units.hpp"
#include "bench/session.hpp"

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

std::optional<int> number_in(const Environment& environment, std::string_view name) {
  const std::optional<std::string> text = environment.lookup(name);
  if (!text) return std::nullopt;
  const Result<std::int64_t> number = parse_integer(*text);
  if (!number.ok() || *number < 0 || *number > SyncPage::kMostRanks) return std::nullopt;
  return static_cast<int>(*number);
}

// What launchers call a rank, and how many there are. Ours comes first; what stands behind is for programs that are
// started by others.
struct RankVariables {
  std::string_view rank;
  std::string_view num_ranks;
};
constexpr std::array<RankVariables, 5> kRankVariables = {{{kRankVariable, kNumRanksVariable},
                                                          {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                                          {"PMI_RANK", "PMI_SIZE"},
                                                          {"SLURM_PROCID", "SLURM_NTASKS"},
                                                          {"RANK", "WORLD_SIZE"}}};

struct Place {
  int rank = 0;
  int num_ranks = 1;
};

Result<Place> place_in(const Environment& environment) {
  for (const RankVariables& names : kRankVariables) {
    const std::optional<int> rank = number_in(environment, names.rank);
    const std::optional<int> num_ranks = number_in(environment, names.num_ranks);
    if (rank && num_ranks) return Place{*rank, *num_ranks};
  }
  return Status(Code::invalid_usage, fmt::format("no launcher has said which rank this is; {} and {} would",
                                                 kRankVariable, kNumRanksVariable));
}

Result<UniqueFd> connect_to(const Address& address) {
  Result<UniqueFd> socket = begin_connect_tcp(address);
  if (!socket.ok()) return socket;
  pollfd waiting{socket->get(), POLLOUT, 0};
  constexpr int kMilliseconds = 30'000;
  while (::poll(&waiting, 1, kMilliseconds) < 0 && errno == EINTR) continue;
  TUTTI_TRY(connect_outcome(socket->get()));
  return socket;
}

// Ends the process when the runner goes, whatever the main thread is doing.
class Watch {
 public:
  Watch(int socket, SyncPage& page) : thread_([this, socket, &page] { watch(socket, page); }) {}
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  ~Watch() {
    stop_ = true;
    thread_.join();
  }

 private:
  void watch(int socket, SyncPage& page) const {
    while (!stop_) {
      pollfd waiting{socket, POLLRDHUP, 0};
      constexpr int kMilliseconds = 50;
      if (::poll(&waiting, 1, kMilliseconds) <= 0 || (waiting.revents & (POLLRDHUP | POLLHUP | POLLERR)) == 0) continue;
      if (stop_) return;
      page.end();
      std::_Exit(1);
    }
  }

  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

class Worker {
 public:
  Worker(const std::vector<Bench>& benches, Backend& backend, const Environment& environment)
      : benches_(benches), backend_(backend), environment_(environment) {}

  Status obey() {
    const Result<UniqueId> id = UniqueId::from_text(environment_.lookup(kWorkerVariable).value_or(""));
    if (!id.ok()) return id.status().with_context(std::string(kWorkerVariable));
    const Result<Place> place = place_in(environment_);
    if (!place.ok()) return place.status();
    place_ = *place;
    Result<UniqueFd> socket = connect_to(id->address());
    if (!socket.ok()) return socket.status().with_context("cannot reach the runner");
    connection_.emplace(std::move(*socket));
    connection_->trust();
    TUTTI_TRY(connection_->send({{"hello", id->to_text()},
                                 {"rank", place_.rank},
                                 {"num_ranks", place_.num_ranks},
                                 {"pid", static_cast<std::int64_t>(::getpid())}}));
    const Result<Json> order = connection_->await();
    if (!order.ok()) return order.status();
    if (order->value("order", "") == "leave") return {};
    const Status begun = begin(*order);
    if (!begun.ok()) return connection_->send({{"failed", begun.to_string()}});
    const Watch watch(connection_->fd(), page_);
    TUTTI_TRY(connection_->send({{"began", true},
                                 {"rank", backend_.rank()},
                                 {"num_ranks", backend_.num_ranks()},
                                 {"version", backend_.version()}}));
    return follow(order->value("shares_cores", false));
  }

 private:
  Status begin(const Json& order) {
    if (order.value("order", "") != "begin") return {Code::invalid_usage, "the first order was not begin"};
    TUTTI_TRY(verify(order.at("settings")));
    Result<SyncPage> page = SyncPage::open(order.value("meeting_place", ""), place_.num_ranks);
    if (!page.ok()) return page.status();
    page_ = std::move(*page);
    backend_.take_settings(settings_in(order.at("settings")));
    return backend_.begin(place_.rank, place_.num_ranks);
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

  Status follow(bool shares_cores) {
    while (true) {
      const Result<Json> order = connection_->await();
      if (!order.ok()) return order.status();
      const std::string what = order->value("order", "");
      if (what == "leave") {
        for (const Declaration* declaration : used_)
          Session(*connection_, backend_, page_, shares_cores, iteration_).tear_down(*declaration);
        backend_.end();
        return {};
      }
      if (what == "end") {  // of a case that has ended here already
        TUTTI_TRY(connection_->send({{"ended", true}}));
        continue;
      }
      if (what != "prepare")
        return {Code::invalid_usage, fmt::format("an order of {}, where prepare or leave was due", in_quotes(what))};
      TUTTI_TRY(Session(*connection_, backend_, page_, shares_cores, iteration_).run_case(*order, benches_, used_));
    }
  }

  const std::vector<Bench>& benches_;
  Backend& backend_;
  const Environment& environment_;
  Place place_;
  std::optional<Connection> connection_;
  SyncPage page_;
  std::uint64_t iteration_ = 0;  // meetings so far
  std::vector<const Declaration*> used_;
};

}  // namespace

std::unique_ptr<Backend> no_backend() { return std::make_unique<NoBackend>(); }

bool is_worker(const Environment& environment) { return environment.lookup(kWorkerVariable).has_value(); }

int run_worker(const std::vector<Bench>& benches, Backend& backend, const Environment& environment) {
  try {
    const Status status = Worker(benches, backend, environment).obey();
    if (status.ok()) return 0;
    std::fprintf(stderr, "worker: %s\n", status.to_string().c_str());
  } catch (const std::exception& thrown) {
    std::fprintf(stderr, "worker: %s\n", thrown.what());
  }
  return 1;
}

}  // namespace tutti::harness
