// SPDX-License-Identifier: Apache-2.0
// The generations of a rendezvous: who is admitted, what its ranks say, and how it ends.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "runtime/bootstrap/rendezvous/state.hpp"

namespace tutti {
namespace {

// How long a rank that was sent on may hold up others.
constexpr std::chrono::seconds kMostWay{1};

}  // namespace

void RendezvousServer::State::admit(Connection& connection, wire::Hello hello) {
  // Its own attempt failed before it had an answer. The generation that the others are at by now is the first that has
  // not ended.
  while (hello.is_unsure && ended.find(hello.generation) != nullptr) ++hello.generation;
  const std::uint64_t generation = hello.generation;
  arrived.fetch_add(1, std::memory_order_relaxed);
  connection.phase = Connection::Phase::member;
  connection.generation = generation;
  connection.rank = hello.rank;
  connection.pid = hello.pid;
  if (EndedGeneration* const earlier = ended.find(generation)) return tell_late(connection, *earlier);
  OpenGeneration& entry = open[generation];
  // It has lost the rank that it waited at.
  if (const std::optional<int> parent = entry.tree.parent_of(hello.rank);
      parent && hello.refusal.ok() && entry.gathering.has(hello)) {
    entry.tree.forget(hello.rank);
    return end_generation(generation, entry.gathering.lost(*parent));
  }
  const Status admitted = entry.gathering.admit(hello);
  if (!admitted.ok()) return end_generation(generation, admitted);
  const bool is_first = entry.gathering.num_arrived() == 1;
  entry.progress_due = true;
  if (send_on(connection, entry, hello) || entry.gathering.all_arrived()) {
    if (!next_progress) next_progress = now + progress_every(hello.num_ranks);
  } else if (!next_progress) {
    next_progress = is_first || hello.num_ranks <= kMostAtRendezvous ? now : now + progress_every(hello.num_ranks);
  }
  send_table(generation);
}

// Until it has come there the connection stays. So its end is noticed at once, and what it says of the way is heard.
bool RendezvousServer::State::send_on(Connection& connection, OpenGeneration& entry, const wire::Hello& hello) {
  if (id.address().family == Address::Family::local || hello.num_ranks <= kMostAtRendezvous) return false;
  const wire::Place place = entry.tree.place(hello);
  connection.send(wire::encode(place));
  if (place.addresses.empty()) return false;
  connection.on_its_way_until = now + kMostWay;
  return true;
}

void RendezvousServer::State::note_attached(std::uint64_t generation, int rank) {
  OpenGeneration& entry = open.at(generation);
  if (!entry.tree.note_attached(rank)) return;
  if (entry.gathering.all_arrived()) {
    entry.progress_due = true;
    if (!next_progress) next_progress = now + progress_every(entry.gathering.num_ranks());
  }
  const auto found = std::find_if(connections.begin(), connections.end(), [&](const Connection& each) {
    return each.phase == Connection::Phase::member && each.generation == generation && each.rank == rank;
  });
  if (found != connections.end()) {
    found->send(wire::encode_rank(wire::FrameType::attached, rank));
    // What is in the system's buffers arrives.
    if (found->out.empty())
      found->phase = Connection::Phase::gone;
    else
      found->close_after({}, now);
  }
  send_table(generation);
}

void RendezvousServer::State::send_table(std::uint64_t generation) {
  OpenGeneration& entry = open.at(generation);
  if (!entry.gathering.all_arrived() || !entry.tree.have_all_attached()) return;
  if (const Status hosts = entry.gathering.check_hosts(); !hosts.ok()) return end_generation(generation, hosts);
  const std::vector<std::byte> table = wire::encode(entry.gathering.table());
  for (Connection& member : connections) {
    if (member.phase == Connection::Phase::member && member.generation == generation) member.send(table);
  }
}

void RendezvousServer::State::obey_frames(Connection& connection) {
  while (connection.phase == Connection::Phase::member) {
    Result<std::optional<wire::Frame>> taken = wire::take_frame(connection.in);
    if (!taken.ok()) return end_generation(connection.generation, taken.status());
    if (!taken->has_value()) return;
    const wire::Frame& frame = **taken;
    if (frame.type == wire::FrameType::give_up) return obey_give_up(connection, wire::parse_error(frame));
    if (frame.type == wire::FrameType::attached || frame.type == wire::FrameType::ready_below ||
        frame.type == wire::FrameType::gone) {
      obey_of_other(connection, frame);
      continue;
    }
    Gathering& gathering = open.at(connection.generation).gathering;
    if (frame.type != wire::FrameType::ready || !gathering.all_arrived()) {
      return end_generation(connection.generation, {Code::internal, "a rank spoke out of turn during the rendezvous"});
    }
    gathering.mark_ready(connection.rank);
    if (gathering.all_ready()) return end_generation(connection.generation, {});
    open.at(connection.generation).progress_due = true;
    if (!next_progress) next_progress = now + progress_every(gathering.num_ranks());
  }
}

void RendezvousServer::State::obey_of_other(Connection& connection, const wire::Frame& frame) {
  const std::uint64_t generation = connection.generation;
  OpenGeneration& entry = open.at(generation);
  const std::optional<int> rank = wire::parse_rank(frame);
  if (!rank || !entry.tree.parent_of(*rank))
    return end_generation(generation, {Code::internal, "a rank spoke out of turn during the rendezvous"});
  if (frame.type == wire::FrameType::gone) return end_generation(generation, entry.gathering.lost(*rank));
  if (frame.type == wire::FrameType::attached) return note_attached(generation, *rank);
  entry.gathering.mark_ready(*rank);
  if (entry.gathering.all_ready()) return end_generation(generation, {});
  entry.progress_due = true;
  if (!next_progress) next_progress = now + progress_every(entry.gathering.num_ranks());
}

// Many ranks are told seldom who is missing, so what one of them knows may be old.
void RendezvousServer::State::obey_give_up(const Connection& connection, const Status& why) {
  const OpenGeneration& entry = open.at(connection.generation);
  const std::string known = entry.progress();
  if (why.code() != Code::timeout || entry.gathering.num_ranks() <= kMostAtRendezvous ||
      why.message().find(known) != std::string::npos)
    return end_generation(connection.generation, why);
  end_generation(connection.generation,
                 {why.code(), fmt::format("{}; at the end, {}", why.message(), known), why.rank()});
}

void RendezvousServer::State::hung_up(Connection& connection) {
  const bool member = connection.phase == Connection::Phase::member;
  connection.phase = Connection::Phase::gone;
  if (!member) return;
  end_generation(connection.generation, open.at(connection.generation).gathering.lost(connection.rank));
}

// Every member of it has the same answer; who comes later gets it too.
void RendezvousServer::State::end_generation(std::uint64_t generation, const Status& outcome) {
  const auto last_words = std::make_shared<const std::vector<std::byte>>(
      outcome.ok() ? wire::encode(wire::FrameType::complete) : wire::encode(wire::FrameType::failed, outcome));
  const auto is_member = [generation](const Connection& each) {
    return each.phase == Connection::Phase::member && each.generation == generation;
  };
  const Gathering& gathering = open.at(generation).gathering;
  const int attached = open.at(generation).tree.num_attached();
  const auto present = static_cast<int>(std::count_if(connections.begin(), connections.end(), is_member)) + attached;
  const int missing = gathering.all_arrived() ? 0 : gathering.num_ranks() - present;
  // Who waits at a rank that has ended comes to hear of it.
  const bool may_hold = !outcome.ok() && (missing > 0 || attached > 0);
  finished.fetch_add(1, std::memory_order_relaxed);  // before anyone can know of it
  ended.add({generation, outcome, missing});
  for (Connection& connection : connections) {
    if (is_member(connection) && connection.pid != getpid()) connection.close_after(*last_words, now);
  }
  // Ranks of this process last: once they know, it may end, and this thread with it. They hear of a failure once the
  // late ranks have, or after a short wait.
  for (Connection& connection : connections) {
    if (!is_member(connection)) continue;
    if (may_hold)
      connection.hold(last_words, now + kFarewell);
    else
      connection.close_after(*last_words, now);
  }
  if (may_hold) failure_until = now + RendezvousConnection::kClosingTime;
  open.erase(generation);
}

void RendezvousServer::State::tell_late(Connection& connection, EndedGeneration& earlier) {
  const Status late(Code::invalid_usage, "all ranks of this communicator have already joined");
  const auto words = std::make_shared<const std::vector<std::byte>>(
      wire::encode(wire::FrameType::failed, earlier.outcome.ok() ? late : earlier.outcome));
  const bool is_last = earlier.missing > 0 && --earlier.missing == 0;
  if (earlier.missing > 0 && connection.pid == getpid()) return connection.hold(words, now + kFarewell);
  connection.close_after(*words, now);
  if (is_last) release_held(earlier.generation);
}

void RendezvousServer::State::release_held(std::uint64_t generation) {
  for (Connection& connection : connections)
    if (connection.phase == Connection::Phase::held && connection.generation == generation) connection.release(now);
}

void RendezvousServer::State::push_progress() {
  if (!next_progress || now < *next_progress) return;
  next_progress.reset();
  for (auto& [generation, entry] : open) {
    if (!std::exchange(entry.progress_due, false)) continue;
    next_progress = now + progress_every(entry.gathering.num_ranks());  // not again before then
    const std::vector<std::byte> words = wire::encode(wire::FrameType::progress, entry.progress());
    for (Connection& connection : connections) {
      const bool member = connection.phase == Connection::Phase::member && connection.generation == generation;
      // Who has not taken the last news needs no more of them.
      if (member && connection.out.empty()) connection.send(words);
    }
  }
}

}  // namespace tutti
