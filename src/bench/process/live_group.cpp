// SPDX-License-Identifier: Apache-2.0
#include "bench/process/live_group.hpp"

#include <algorithm>
#include <cerrno>
#include <thread>

#include <fmt/format.h>
#include <poll.h>

#include "base/system/loopback.hpp"
#include "base/text.hpp"
#include "base/unique_id.hpp"
#include "bench/process/worker.hpp"

namespace tutti::harness {

namespace {

// Beside those that are awaited. Whoever is one must say so soon where others want in.
constexpr std::size_t kMostStrangers = 64;
constexpr std::chrono::seconds kUntilStrange{1};
// The others may answer too where a rank has failed.
constexpr std::chrono::seconds kAfterFailure{1};
// Waits end now and then to look after processes that have ended without a word.
constexpr int kLook = 20;

// What each order is answered with, where it is done.
std::string_view answer_to(const std::string& order) {
  if (order == "gather") return "gathered";
  if (order == "begin") return "began";
  if (order == "prepare") return "prepared";
  if (order == "run") return "samples";
  if (order == "check") return "checked";
  return "ended";
}

std::vector<std::string> names_of(const std::vector<Setting>& settings) {
  std::vector<std::string> names;
  for (const Setting& setting : settings)
    if (setting.value) names.push_back(setting.name);
  return names;
}

Status too_late(std::string_view what, Nanos limit, const std::string& who) {
  return {Code::timeout, fmt::format("{} not {} within {}", who, what, to_text(limit))};
}

}  // namespace

LiveGroup::LiveGroup(GroupRequest request)
    : request_(std::move(request)),
      cores_(allowed_whole_cores()),
      shares_cores_(static_cast<std::size_t>(request_.group.num_ranks) > cores_.size()) {
  if (cores_.empty()) request_.bind = Bind::none;  // the system has not told them
}

LiveGroup::~LiveGroup() { end_all({this}); }

void LiveGroup::end_all(const std::vector<LiveGroup*>& groups) {
  // Leaving in good order may take longer than who interrupts is ready to wait.
  const auto is_interrupted = [&] {
    return std::any_of(groups.begin(), groups.end(), [](LiveGroup* group) { return group->request_.is_interrupted(); });
  };
  const auto have_left = [&] {
    return std::all_of(groups.begin(), groups.end(),
                       [](LiveGroup* group) { return !group->alive_ || group->processes_.have_ended(); });
  };
  if (!is_interrupted()) {
    for (LiveGroup* group : groups)
      if (group->alive_)
        for (Rank& rank : group->ranks_) static_cast<void>(rank.connection->send({{"order", "leave"}}));
    const auto deadline = Clock::now() + std::chrono::seconds(2);
    while (!have_left() && Clock::now() < deadline && !is_interrupted())
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  std::vector<Processes*> processes;
  for (LiveGroup* group : groups) {
    group->alive_ = false;
    processes.push_back(&group->processes_);
  }
  Processes::end_all(std::move(processes));
}

Status LiveGroup::start() {
  const Status begun = begin();
  if (begun.ok()) return begun;
  const Status failed = fail(begun);
  if (is_loopback_up()) return failed;
  // The runner needs none, but many a peer does, and few say it so that it is understood.
  return failed.with_context("no loopback interface is up, which may be why (ip link set lo up)");
}

Status LiveGroup::begin() {
  const int num_ranks = request_.group.num_ranks;
  if (!request_.hosts) {
    TUTTI_TRY_ASSIGN(page_, SyncPage::create(num_ranks));
  }
  TUTTI_TRY_ASSIGN(const Address address, meeting_address());
  const Result<Listener> listener = listen_at(address);
  if (!listener.ok()) return listener.status().with_context("cannot listen for workers");
  const Result<UniqueId> id = UniqueId::make(listener->address);
  if (!id.ok()) return id.status();
  ranks_.resize(static_cast<std::size_t>(num_ranks));
  TUTTI_TRY(processes_.start({.launcher = request_.launcher,
                              .num_ranks = num_ranks,
                              .program = request_.program,
                              .environment = request_.environment,
                              .id = id->to_text(),
                              .hosts = request_.hosts,
                              .handed_on = names_of(request_.group.all_settings())}));
  // From the launcher to the backend's own start.
  const Patience patience{Clock::now() + to_chrono(request_.limits.start), "begun", request_.limits.start};
  TUTTI_TRY(meet(*listener, *id, patience));
  alive_ = true;
  Json order = begin_order();
  if (request_.hosts) TUTTI_TRY(gather(patience, order));
  const Result<std::vector<Json>> answers = exchange(order, patience);
  return answers.ok() ? check_began(*answers) : answers.status();
}

// If all ranks are on this host: it may have no network, not even a loopback interface.
Result<Address> LiveGroup::meeting_address() const {
  return request_.hosts ? Result<Address>(request_.hosts->address) : make_local_address();
}

Status LiveGroup::gather(const Patience& patience, Json& begin_order) {
  std::vector<Here> all;
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    const Result<Here> here = here_in(ranks_[rank].here);
    if (!here.ok()) return here.status().with_context(fmt::format("rank {}", rank));
    all.push_back(*here);
  }
  on_hosts_ = ranks_on_hosts(all);
  TUTTI_TRY(check_placement(on_hosts_, request_.hosts->entries));
  shares_cores_ = on_hosts_.shares_cores;
  if (on_hosts_.cores.empty()) request_.bind = Bind::none;
  const Result<std::vector<Json>> answers = exchange({{"order", "gather"}, {"host_of", on_hosts_.host_of}}, patience);
  if (!answers.ok()) return answers.status();
  std::vector<std::string> places(static_cast<std::size_t>(on_hosts_.num_hosts()));
  for (std::size_t rank = 0; rank < answers->size(); ++rank) {
    const Json place = (*answers)[rank].value("meeting_place", Json());
    if (place.is_string() && !place.get<std::string>().empty())
      places[static_cast<std::size_t>(on_hosts_.host_of[rank])] = place.get<std::string>();
  }
  begin_order["meeting_places"] = places;
  begin_order["links"] = answers->front().value("links", Json());
  begin_order["has_common_clock"] = on_hosts_.has_common_clock;
  begin_order["shares_cores"] = shares_cores_;
  begin_order.erase("cores");
  if (request_.bind == Bind::core) begin_order["cores"] = on_hosts_.cores;
  return {};
}

Json LiveGroup::begin_order() const {
  Json settings = Json::array();
  for (const Setting& setting : request_.group.all_settings())
    settings.push_back({setting.name, setting.value ? Json(*setting.value) : Json(nullptr)});
  Json order = {
      {"order", "begin"}, {"settings", settings}, {"meeting_place", page_.path()}, {"shares_cores", shares_cores_}};
  if (request_.bind == Bind::core) order["cores"] = cores_of_ranks(cores_, request_.group.num_ranks);
  return order;
}

Status LiveGroup::check_began(const std::vector<Json>& answers) {
  for (std::size_t rank = 0; rank < answers.size(); ++rank) {
    // Whatever they are: a worker may say anything.
    const Json said_rank = answers[rank].value("rank", Json());
    const Json said_num_ranks = answers[rank].value("num_ranks", Json());
    if (said_rank != rank || said_num_ranks != request_.group.num_ranks)
      return {Code::invalid_usage,
              fmt::format("the process that was launched as rank {} of {} says that it is rank {} of {}", rank,
                          request_.group.num_ranks, printable(said_rank.dump()), printable(said_num_ranks.dump()))};
  }
  const Json version = answers.front().value("version", Json());
  if (version.is_string()) version_ = printable(version.get<std::string>());
  return {};
}

std::string LiveGroup::remarks() const {
  std::string text;
  if (request_.bind == Bind::none) {
    text = "ranks are not bound to cores";
  } else if (shares_cores_) {
    if (!request_.hosts) text = fmt::format("rank r is on core r modulo {}", cores_.size());
  }
  if (num_strangers_ > 0)
    text += fmt::format("{}{} connection{} without the token {} turned away", text.empty() ? "" : "; ", num_strangers_,
                        num_strangers_ == 1 ? "" : "s", num_strangers_ == 1 ? "was" : "were");
  return text;
}

Status LiveGroup::meet(const Listener& listener, const UniqueId& id, const Patience& patience) {
  std::vector<Stranger> strangers;
  const auto num_here = [&] {
    return std::count_if(ranks_.begin(), ranks_.end(), [](const Rank& rank) { return rank.connection != nullptr; });
  };
  while (num_here() < std::ssize(ranks_)) {
    if (const auto failure = processes_.failure()) return {Code::rank_lost, *failure + " before it had begun"};
    if (request_.is_interrupted()) return {Code::aborted, "interrupted"};
    if (processes_.have_ended()) return {Code::rank_lost, "all processes ended before they had begun"};
    if (Clock::now() >= patience.until)
      return too_late(patience.what, patience.limit,
                      fmt::format("{} of {} ranks have", std::ssize(ranks_) - num_here(), ranks_.size()));
    std::vector<pollfd> waiting = {{listener.socket.get(), POLLIN, 0}};
    for (const Stranger& stranger : strangers) waiting.push_back({stranger.connection->fd(), POLLIN, 0});
    if (::poll(waiting.data(), waiting.size(), kLook) < 0 && errno != EINTR)
      return Status::from_errno("cannot wait for workers", errno);
    TUTTI_TRY(accept(listener, strangers));
    TUTTI_TRY(welcome(strangers, id));
  }
  num_strangers_ += static_cast<int>(strangers.size());
  return {};
}

// Silent ones give way, so that they cannot keep workers out.
Status LiveGroup::accept(const Listener& listener, std::vector<Stranger>& strangers) {
  if (strangers.size() >= kMostStrangers + ranks_.size()) {
    if (Clock::now() - strangers.front().since < kUntilStrange) return {};
    strangers.erase(strangers.begin());
    ++num_strangers_;
  }
  Result<UniqueFd> accepted = accept_from(listener.socket.get());
  if (!accepted.ok()) return accepted.status();
  if (accepted->valid()) watch_silence(accepted->get());
  if (accepted->valid()) strangers.push_back({std::make_unique<Connection>(std::move(*accepted)), Clock::now()});
  return {};
}  // NOLINT(clang-analyzer-cplusplus.NewDeleteLeaks): takes what is in the vector for lost

// Whoever has said hello gets its seat; who says anything else is shown out.
Status LiveGroup::welcome(std::vector<Stranger>& strangers, const UniqueId& id) {
  const auto knows_token = [&](const Json& message) {
    const Json hello = message.value("hello", Json());
    const Result<UniqueId> said =
        hello.is_string() ? UniqueId::from_text(hello.get<std::string>()) : Status(Code::invalid_argument, "no hello");
    return said.ok() && same_token(said->token(), id.token());
  };
  for (Stranger& stranger : strangers) {
    static_cast<void>(stranger.connection->receive());
    const Result<std::optional<Json>> message = stranger.connection->next();
    if (message.ok() && !*message) continue;
    if (!message.ok() || !knows_token(**message)) {
      ++num_strangers_;
      stranger.connection.reset();
      continue;
    }
    TUTTI_TRY(seat(**message, std::move(stranger.connection)));
  }
  std::erase_if(strangers, [](const Stranger& stranger) { return stranger.connection == nullptr; });
  return {};
}

Status LiveGroup::seat(const Json& hello, std::unique_ptr<Connection> connection) {
  const Json rank = hello.value("rank", Json());
  const Json num_ranks = hello.value("num_ranks", Json());
  if (!rank.is_number_integer() || rank < 0 || rank >= std::ssize(ranks_))
    return {Code::invalid_usage,
            fmt::format("a worker says that it is rank {}, where there are {}", in_quotes(rank.dump()), ranks_.size())};
  if (num_ranks != std::ssize(ranks_))
    return {Code::invalid_usage, fmt::format("rank {} was launched as one of {}, where there should be {}", rank.dump(),
                                             in_quotes(num_ranks.dump()), ranks_.size())};
  Rank& seat = ranks_[rank.get<std::size_t>()];
  if (seat.connection != nullptr)
    return {Code::invalid_usage, fmt::format("two workers say that they are rank {}", rank.dump())};
  connection->trust();
  seat.connection = std::move(connection);
  seat.here = hello.value("host", Json());
  return {};
}

Result<std::vector<Json>> LiveGroup::exchange(const Json& order) {
  return exchange(order, {Clock::now() + to_chrono(request_.limits.answer), "answered", request_.limits.answer});
}

Result<std::vector<Json>> LiveGroup::exchange(const Json& order, const Patience& patience) {
  if (!alive_) return Status(Code::aborted, "the group has ended");
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    // Whatever is there already was not asked for.
    static_cast<void>(ranks_[rank].connection->receive());
    const Result<std::optional<Json>> early = ranks_[rank].connection->next();
    if (early.ok() && *early)
      return fail({Code::invalid_usage,
                   fmt::format("rank {} said something without being asked: {}", rank, in_quotes((**early).dump()))});
    ranks_[rank].has_answered = false;
    const Status sent = ranks_[rank].connection->send(order);
    if (!sent.ok()) return fail({Code::rank_lost, fmt::format("rank {} is gone", rank)});
  }
  const Status answered = await_answers(patience, answer_to(order.value("order", "")));
  if (!answered.ok()) return fail(answered);
  std::vector<Json> answers;
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    TUTTI_TRY(failure_of(rank));
    answers.push_back(std::move(ranks_[rank].answer));
  }
  return answers;
}

Status LiveGroup::failure_of(std::size_t rank) const {
  const Json failed = ranks_[rank].has_answered ? ranks_[rank].answer.value("failed", Json()) : Json();
  if (!failed.is_string()) return {};
  return {Code::invalid_argument, fmt::format("rank {}: {}", rank, printable(failed.get<std::string>())),
          static_cast<int>(rank)};
}

Status LiveGroup::await_answers(const Patience& patience, std::string_view due) {
  Status failed;  // of the first rank that has
  Clock::time_point until = patience.until;
  while (true) {
    std::vector<pollfd> waiting;
    std::vector<std::size_t> whose;
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      if (ranks_[rank].has_answered) continue;
      const int events = ranks_[rank].connection->has_unsent() ? POLLIN | POLLOUT : POLLIN;
      waiting.push_back({ranks_[rank].connection->fd(), static_cast<short>(events), 0});
      whose.push_back(rank);
    }
    if (waiting.empty()) return {};
    if (request_.is_interrupted()) return {Code::aborted, "interrupted"};
    if (Clock::now() >= until)
      return failed.ok() ? too_late(patience.what, patience.limit, fmt::format("rank {} has", whose.front())) : failed;
    if (::poll(waiting.data(), waiting.size(), kLook) < 0 && errno != EINTR)
      return Status::from_errno("cannot wait for workers", errno);
    for (std::size_t each = 0; each < waiting.size(); ++each) {
      if (waiting[each].revents == 0) continue;
      const Status taken = take_answer(whose[each], due);
      // Who goes because another has failed is not the reason.
      if (!taken.ok()) return failed.ok() ? taken : failed;
      if (!failed.ok()) continue;
      failed = failure_of(whose[each]);
      if (!failed.ok()) until = std::min(until, Clock::now() + kAfterFailure);
    }
  }
}

Status LiveGroup::take_answer(std::size_t rank, std::string_view due) {
  Connection& connection = *ranks_[rank].connection;
  if (connection.has_unsent()) TUTTI_TRY(connection.flush());
  TUTTI_TRY(connection.receive());
  Result<std::optional<Json>> message = connection.next();
  if (!message.ok())
    return connection.is_closed()
               ? Status(Code::rank_lost, fmt::format("rank {} ended in the midst of it", rank), static_cast<int>(rank))
               : message.status().with_context(fmt::format("rank {} broke the protocol", rank));
  if (!*message) return {};
  const bool fits = (**message).contains(due) || (**message).contains("failed") || (**message).contains("skipped");
  if (!fits)
    return {Code::invalid_usage,
            fmt::format("rank {} answered {} where {} was due", rank, in_quotes((**message).dump()), in_quotes(due))};
  ranks_[rank].answer = std::move(**message);
  ranks_[rank].has_answered = true;
  return {};
}

Status LiveGroup::fail(const Status& why) {
  alive_ = false;
  page_.end();
  // A process that has just gone is soon known to have; how it ended is worth the wait.
  const auto deadline = Clock::now() + std::chrono::seconds(1);
  std::optional<std::string> how = processes_.failure();
  while (!how && why.code() == Code::rank_lost && !request_.is_interrupted() && Clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    how = processes_.failure();
  }
  std::string text = why.to_string();
  if (how && text.find(*how) == std::string::npos) text += fmt::format("; {}", *how);
  // Not what an mpirun says of having been ended.
  const std::string words = processes_.last_words();
  // One after another they would take longer than who interrupts is ready to wait.
  if (!request_.is_interrupted()) processes_.end();
  if (!words.empty()) text += fmt::format("; it wrote: {}", words);
  return {why.code(), text, why.rank()};
}

}  // namespace tutti::harness
