#include "bench/live_group.hpp"

#include <algorithm>
#include <cerrno>
#include <thread>

#include <fmt/format.h>
#include <poll.h>

#include "base/text.hpp"
#include "base/unique_id.hpp"
#include "bench/worker.hpp"

namespace tutti::harness {

namespace {

constexpr std::size_t kMostStrangers = 64;
// Waits end now and then to look after processes that have ended without a word.
constexpr int kLook = 20;

Address loopback() {
  Address address;
  address.family = Address::Family::ipv4;
  address.bytes = {127, 0, 0, 1};
  return address;
}

Status too_late(std::string_view what, Nanos limit, const std::string& who) {
  return {Code::timeout, fmt::format("{} has not {} within {}", who, what, to_text(limit))};
}

}  // namespace

LiveGroup::~LiveGroup() {
  if (!alive_) return;
  for (Rank& rank : ranks_) static_cast<void>(rank.connection->send({{"order", "leave"}}));
  const auto deadline = Clock::now() + std::chrono::seconds(2);
  while (!processes_.have_ended() && Clock::now() < deadline) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  processes_.end();
}

Result<std::unique_ptr<LiveGroup>> LiveGroup::start(GroupRequest request) {
  std::unique_ptr<LiveGroup> group(new LiveGroup(std::move(request)));
  const Status begun = group->begin();
  if (!begun.ok()) return group->fail(begun);
  return group;
}

Status LiveGroup::begin() {
  const int num_ranks = request_.group.num_ranks;
  Result<SyncPage> page = SyncPage::create(num_ranks);
  if (!page.ok()) return page.status();
  page_ = std::move(*page);
  Result<Listener> listener = listen_tcp(loopback());
  if (!listener.ok()) return listener.status();
  const Result<UniqueId> id = UniqueId::make(listener->address);
  if (!id.ok()) return id.status();
  ranks_.resize(static_cast<std::size_t>(num_ranks));
  TUTTI_TRY(processes_.start({.launcher = request_.launcher,
                              .num_ranks = num_ranks,
                              .program = request_.program,
                              .environment = request_.environment,
                              .id = id->to_text(),
                              .shares_cores = request_.shares_cores,
                              .is_bound = request_.is_bound}));
  TUTTI_TRY(meet(*listener, id->to_text()));
  alive_ = true;
  Json settings = Json::array();
  for (const Setting& setting : request_.group.all_settings())
    settings.push_back({setting.name, setting.value ? Json(*setting.value) : Json(nullptr)});
  const Result<std::vector<Json>> answers = exchange({{"order", "begin"},
                                                      {"settings", settings},
                                                      {"meeting_place", page_.path()},
                                                      {"shares_cores", request_.shares_cores}});
  if (!answers.ok()) return answers.status();
  for (std::size_t rank = 0; rank < answers->size(); ++rank) {
    // Whatever they are: a worker may say anything.
    const Json said_rank = (*answers)[rank].value("rank", Json());
    const Json said_num_ranks = (*answers)[rank].value("num_ranks", Json());
    if (said_rank != rank || said_num_ranks != num_ranks)
      return {Code::invalid_usage,
              fmt::format("the process that was launched as rank {} of {} says that it is rank {} of {}", rank,
                          num_ranks, printable(said_rank.dump()), printable(said_num_ranks.dump()))};
  }
  const Json version = answers->front().value("version", Json());
  if (version.is_string()) version_ = printable(version.get<std::string>());
  return {};
}

Status LiveGroup::meet(const Listener& listener, const std::string& token) {
  const auto deadline = Clock::now() + to_chrono(request_.limits.start);
  std::vector<std::unique_ptr<Connection>> strangers;
  const auto num_here = [&] {
    return std::count_if(ranks_.begin(), ranks_.end(), [](const Rank& rank) { return rank.connection != nullptr; });
  };
  while (num_here() < std::ssize(ranks_)) {
    if (const auto failure = processes_.failure()) return {Code::rank_lost, *failure + " before it had begun"};
    if (request_.is_interrupted()) return {Code::aborted, "interrupted"};
    if (processes_.have_ended()) return {Code::rank_lost, "all processes ended before they had begun"};
    if (Clock::now() >= deadline)
      return too_late("begun", request_.limits.start,
                      fmt::format("{} of {} ranks", std::ssize(ranks_) - num_here(), ranks_.size()));
    std::vector<pollfd> waiting = {{listener.socket.get(), POLLIN, 0}};
    for (const auto& stranger : strangers) waiting.push_back({stranger->fd(), POLLIN, 0});
    if (::poll(waiting.data(), waiting.size(), kLook) < 0 && errno != EINTR)
      return Status::from_errno("cannot wait for workers", errno);
    Result<UniqueFd> accepted = accept_from(listener.socket.get());
    if (accepted.ok() && accepted->valid() && strangers.size() < kMostStrangers)
      strangers.push_back(std::make_unique<Connection>(std::move(*accepted)));
    TUTTI_TRY(welcome(strangers, token));
  }
  return {};
}

// Whoever has said hello gets its seat; who says anything else is shown out.
Status LiveGroup::welcome(std::vector<std::unique_ptr<Connection>>& strangers, const std::string& token) {
  for (auto& stranger : strangers) {
    static_cast<void>(stranger->receive());
    const Result<std::optional<Json>> message = stranger->next();
    if (message.ok() && !*message) continue;
    const bool knows = message.ok() && (**message).value("hello", Json()) == token;
    if (!knows) {
      ++num_strangers_;
      stranger.reset();
      continue;
    }
    TUTTI_TRY(seat(**message, std::move(stranger)));
  }
  std::erase(strangers, nullptr);
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
  return {};
}

Result<std::vector<Json>> LiveGroup::exchange(const Json& order) {
  if (!alive_) return Status(Code::aborted, "the group has ended");
  const auto deadline = Clock::now() + to_chrono(request_.limits.answer);
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
  const Status answered = await_answers(deadline);
  if (!answered.ok()) return fail(answered);
  std::vector<Json> answers;
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    const Json failed = ranks_[rank].answer.value("failed", Json());
    if (failed.is_string())
      return Status(Code::invalid_argument, fmt::format("rank {}: {}", rank, printable(failed.get<std::string>())),
                    static_cast<int>(rank));
    answers.push_back(std::move(ranks_[rank].answer));
  }
  return answers;
}

Status LiveGroup::await_answers(Clock::time_point deadline) {
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
    if (Clock::now() >= deadline)
      return too_late("answered", request_.limits.answer, fmt::format("rank {}", whose.front()));
    if (::poll(waiting.data(), waiting.size(), kLook) < 0 && errno != EINTR)
      return Status::from_errno("cannot wait for workers", errno);
    for (std::size_t each = 0; each < waiting.size(); ++each)
      if (waiting[each].revents != 0) TUTTI_TRY(take_answer(whose[each]));
  }
}

Status LiveGroup::take_answer(std::size_t rank) {
  Connection& connection = *ranks_[rank].connection;
  if (connection.has_unsent()) TUTTI_TRY(connection.flush());
  TUTTI_TRY(connection.receive());
  Result<std::optional<Json>> message = connection.next();
  if (!message.ok())
    return connection.is_closed()
               ? Status(Code::rank_lost, fmt::format("rank {} ended in the midst of it", rank), static_cast<int>(rank))
               : message.status().with_context(fmt::format("rank {} broke the protocol", rank));
  if (!*message) return {};
  ranks_[rank].answer = std::move(**message);
  ranks_[rank].has_answered = true;
  return {};
}

Status LiveGroup::fail(const Status& why) {
  alive_ = false;
  page_.end();
  // A process that has just gone is soon known to have; how it ended is worth the wait.
  const auto deadline = Clock::now() + std::chrono::milliseconds(200);
  std::optional<std::string> how = processes_.failure();
  while (!how && why.code() == Code::rank_lost && Clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    how = processes_.failure();
  }
  std::string text = why.to_string();
  if (how && text.find(*how) == std::string::npos) text += fmt::format("; {}", *how);
  processes_.end();
  if (const std::string words = processes_.last_words(); !words.empty()) text += fmt::format("; it wrote: {}", words);
  return {why.code(), text, why.rank()};
}

}  // namespace tutti::harness
