// SPDX-License-Identifier: Apache-2.0
// What steps wait for, and what they do to others: messages, their room, and what the messages hold.
#include <algorithm>
#include <cmath>
#include <utility>

#include "schedule/prove/definition.hpp"
#include "simulate/engine/engine.hpp"

namespace tutti::simulate {

bool Engine::has_message(const Endpoint& end) {
  if (lane_->is_nothing) return true;
  Connection& connection = connections_[incoming(*lane_, end)];
  if (connection.first == kNoTransfer || !transfers_[connection.first].is_settled ||
      transfers_[connection.first].has_more) {
    connection.receiver = id_of(*lane_);
    return false;
  }
  const Transfer& message = transfers_[connection.first];
  if (later(*lane_, message.arrives)) return false;
  if (message.arrives > lane_->cause.time) lane_->cause = arrival_of(message, message.arrives);
  return true;
}

// Of messages that take several slots, all but the last part of each is taken out as it comes, from whomever, once a
// lane waits for it.
void Engine::open_to_parts(const LaneState& lane, bool is_open) {
  if (lane.is_nothing) return;
  for (const Endpoint& end : lane.step->sources) {
    if (end.place != Place::message) continue;
    const std::uint32_t number = connection_to(lane.rank, end);
    connections_[number].is_open = is_open;
    if (is_open) take_parts(number);
  }
}

void Engine::take_parts(std::uint32_t number) {
  if (!connections_[number].is_open) return;
  const auto first = [&] { return connections_[number].first; };
  while (first() != kNoTransfer && transfers_[first()].is_settled && transfers_[first()].has_more &&
         transfers_[first()].arrives <= now_)
    take_first(number);
  if (first() == kNoTransfer || transfers_[first()].has_more || !transfers_[first()].is_settled) return;
  Connection& connection = connections_[number];
  if (connection.receiver != kNobody)
    wake(std::exchange(connection.receiver, kNobody), std::max(now_, transfers_[first()].arrives));
}

bool Engine::has_credit(const Endpoint& end) {
  const std::uint32_t slots = fabric_.queue.slots;
  if (slots == 0 || lane_->is_nothing) return true;
  Connection& connection = connections_[connections_.outgoing(lane_->rank, end.rank, end.channel)];
  if ((by_slots_ ? connection.pending : connection.used) < slots) return true;
  connection.sender = id_of(*lane_);
  if (!lane_->lacked_room) connection.lacking_since = now_;
  lane_->lacked_room = true;
  return false;
}

Engine::Work Engine::work_of(const LaneState& lane) {
  const Step& step = *lane.step;
  const fabric::Costs& costs = costs_of(lane.rank);
  switch (step.kind) {
    case StepKind::expose: {
      const double length = options_.staged ? lane.length : 0;
      if (passes_.carries(lane.rank))
        return {.overhead = costs.post_overhead,
                .copying = passes_.time_of(lane.rank, {.own_ends = 1, .to_others = 1}, length)};
      return {.overhead = costs.post_overhead, .copying = passes_.time_in_memory(lane.rank, 2 * length, 0)};
    }
    case StepKind::open:
    case StepKind::signal: return {.overhead = costs.post_overhead};
    case StepKind::wait:
    case StepKind::close: return {.overhead = costs.wait_overhead};
    case StepKind::combine: break;
  }
  if (passes_.carries(lane.rank)) return work_of_pass(lane);
  double overhead = 0;
  double received = 0;
  double moved = 0;
  bool reads_own = false;
  bool writes_own = false;
  for (const Endpoint& end : step.sources) {
    moved += lane.length;
    reads_own = reads_own || end.place == Place::local;
    if (end.place != Place::message || lane.is_nothing) continue;
    overhead += costs.receive_overhead + costs.receive_per_byte * lane.length;
    received += time_of_message(lane.rank, lane.length);
  }
  for (const Endpoint& end : step.destinations) {
    if (end.place != Place::local || stays(lane, end.slice)) continue;
    moved += lane.length;
    writes_own = true;
  }
  const bool folds = step.sources.size() > 1;
  // What only goes between a link and the memory is the link's business, unless the memory has a rate for messages.
  if (!folds && !(reads_own && writes_own)) return {.overhead = overhead, .copying = received};
  const double own = passes_.time_in_memory(lane.rank, moved, folds ? lane.length : 0);
  return {.overhead = overhead, .copying = received + (folds ? 0 : own), .reducing = folds ? own : 0};
}

double Engine::time_of_message(std::uint32_t rank, double bytes) const {
  const fabric::Memory& memory = fabric_.memories[fabric_.ranks[rank].memory];
  return memory.messages > 0 && bytes > 0 ? memory.latency + bytes / memory.messages : 0;
}

// The core carries all that the step reads and writes, in one go.
Engine::Work Engine::work_of_pass(const LaneState& lane) {
  double overhead = 0;
  for (const Endpoint& end : lane.step->sources)
    if (end.place == Place::message && !lane.is_nothing) overhead += costs_of(lane.rank).receive_overhead;
  const Pass pass = pass_of(*lane.step, lane.rank, fabric_, [&](const Slice& slice) { return stays(lane, slice); });
  const double time = passes_.time_of_any(lane.rank, pass, lane.length);
  return {.overhead = overhead, .copying = pass.folds ? 0 : time, .reducing = pass.folds ? time : 0};
}

// Whether the step copies to where what it copies lies already.
bool Engine::stays(const LaneState& lane, const Slice& to) const {
  const std::vector<Endpoint>& sources = lane.step->sources;
  if (!options_.in_place || to.space != Space::output || sources.size() != 1 || sources[0].place != Place::local ||
      sources[0].slice.space != Space::input)
    return false;
  const Slice& from = sources[0].slice;
  for (std::uint32_t i = 0; i < to.num_blocks; ++i) {
    const std::uint32_t written = block_at(to, i, schedule_.division(Space::output).blocks);
    const std::uint32_t read = block_at(from, i, schedule_.division(Space::input).blocks);
    if (input_behind(schedule_, lane.rank, written) != read) return false;
  }
  return true;
}

Moment Engine::arrival_of(const Transfer& transfer, double time) {
  Moment moment{time, transfer.shares};
  moment.shares.add(Share::link_wait, transfer.queueing);
  moment.shares.add(Share::latency, transfer.latency);
  moment.shares.add(Share::bytes, time - transfer.started - transfer.queueing - transfer.latency);
  return moment;
}

std::span<const std::uint32_t> Engine::way(std::uint32_t from, std::uint32_t to) {
  if (symmetry_ == nullptr) return ways_.make(from, to);
  return ways_.make(from, to, [&](std::uint32_t link) { return symmetry_->standing_for(link); });
}

void Engine::take(const Endpoint& end) {
  if (end.place != Place::message || lane_->is_nothing) return;
  const std::uint32_t number = incoming(*lane_, end);
  if (contents_ != nullptr && end.slice.size() > 1 && lane_->round == 0)
    contents_->remove_payload(transfers_[connections_[number].first].payload);
  take_first(number);
}

void Engine::take_first(std::uint32_t number) {
  Connection& connection = connections_[number];
  const TransferId id = connection.first;
  connection.first = transfers_[id].next;
  const bool is_whole = !transfers_[id].has_more;
  transfers_.remove(id);
  if (by_slots_ && is_whole) {
    --connection.pending;
    if (connection.sender != kNobody) wake(std::exchange(connection.sender, kNobody), now_);
  }
  if (fabric_.queue.slots > 0) give_credit(number);
}

void Engine::give_credit(std::uint32_t number) {
  if (fabric_.queue.credit_bytes == 0) return has_room(number);
  Connection& connection = connections_[number];
  if (connection.links_back.data() == nullptr) connection.links_back = way(connection.to, connection.from);
  const TransferId id = transfers_.add();
  transfers_[id] = {.cargo = Cargo::credit,
                    .whose = number,
                    .bytes = static_cast<double>(fabric_.queue.credit_bytes),
                    .links = connection.links_back};
  network_.start(id, now_);
}

// A credit has come to the sender, who knows of it when it looks next, or is woken.
void Engine::has_room(std::uint32_t number) {
  Connection& connection = connections_[number];
  --connection.used;
  // What is left of messages that take several slots goes first.
  if (const TransferId next = connection.unsent; next != kNoTransfer) {
    Transfer& part = transfers_[next];
    connection.unsent = part.next;
    ++connection.used;
    const double time = noticed(part.started);
    part.shares.add(Share::peer_wait, time - part.started);
    events_.push(time, {.of = Turn::Of::start, .id = next});
    return;
  }
  if (by_slots_ || connection.sender == kNobody) return;
  wake(std::exchange(connection.sender, kNobody), noticed(connection.lacking_since));
}

double Engine::noticed(double since) const {
  const fabric::Queue& queue = fabric_.queue;
  if (queue.back_pressure == fabric::BackPressure::sleep) return now_ + queue.wake;
  if (queue.poll_interval <= 0) return now_;
  return std::max(now_, since + std::ceil((now_ - since) / queue.poll_interval) * queue.poll_interval);
}

void Engine::launch(std::uint32_t number, LaneState& lane) {
  ++messages_;
  ++connections_[number].pending;
  const auto slot = static_cast<double>(fabric_.queue.slot_bytes);
  double left = lane.length;
  while (by_slots_ && slot > 0 && left > slot) {
    launch_part(number, lane, slot, true);
    left -= slot;
  }
  const TransferId last = launch_part(number, lane, left, false);
  if (carries_contents() && lane.made.size() > 1) transfers_[last].payload = contents_->add_payload(lane.made);
}

TransferId Engine::launch_part(std::uint32_t number, const LaneState& lane, double bytes, bool has_more) {
  Connection& connection = connections_[number];
  if (connection.links.data() == nullptr) connection.links = way(connection.from, connection.to);
  const TransferId id = transfers_.add();
  Transfer& part = transfers_[id];
  part.cargo = Cargo::message;
  part.whose = number;
  part.bytes = bytes;
  part.is_tree = part.is_fed = part.has_left = false;
  part.started = now_;
  part.not_before = 0;
  part.queueing = part.latency = 0;
  part.value = lane.value;
  part.links = connection.links;
  part.shares = lane.shares;
  part.is_settled = false;
  part.has_more = has_more;
  part.next = kNoTransfer;
  (connection.first == kNoTransfer ? connection.first : transfers_[connection.last].next) = id;
  connection.last = id;
  if (fabric_.queue.slots > 0 && connection.used >= fabric_.queue.slots) {
    if (connection.unsent == kNoTransfer) connection.unsent = id;
    return id;
  }
  ++connection.used;
  network_.start(id, now_);
  return id;
}

void Engine::arrived(TransferId id, double time) {
  Transfer& transfer = transfers_[id];
  if (transfer.is_fed) {
    transfer.is_settled = true;
    transfer.arrives = time;
    return;
  }
  time = std::max(time, transfer.not_before);
  if (options_.recorder != nullptr) record(transfer, time);
  switch (transfer.cargo) {
    case Cargo::message: {
      transfer.arrives = time;
      Connection& connection = connections_[transfer.whose];
      transfer.is_settled = true;
      if (transfer.has_more) {
        events_.push(time, {.of = Turn::Of::part, .id = transfer.whose});
        return;
      }
      // Messages are taken in the order in which they were sent, whichever comes first.
      if (connection.first == id && connection.receiver != kNobody)
        wake(std::exchange(connection.receiver, kNobody), time);
      return;
    }
    case Cargo::credit: events_.push(time, {.of = Turn::Of::room, .id = transfer.whose}); break;
    // Copies of these: what follows from them needs room.
    case Cargo::read: has_read(Transfer(transfer), time); break;
    case Cargo::write: break;  // see has_left()
  }
  transfers_.remove(id);
}

void Engine::record(const Transfer& transfer, double time) {
  Recorder& recorder = *options_.recorder;
  if (transfer.cargo == Cargo::message) {
    const Connection& connection = connections_[transfer.whose];
    recorder.message(connection.from, connection.to, transfer.bytes, transfer.started, time);
  } else if (transfer.cargo == Cargo::credit) {
    const Connection& connection = connections_[transfer.whose];
    recorder.credit(connection.to, connection.from, transfer.started, time);
  } else {
    Transfer access = transfer;
    access.bytes /= access.stretch;
    recorder.access(access, lanes_[transfer.whose].rank, time);
  }
}

// --- contents
// ---------------------------------------------------------------------------------------------------------

void Engine::make_contents(LaneState& lane) {
  const Step& step = *lane.step;
  lane.made.clear();
  const std::uint32_t size = step.sources.empty() ? 1 : step.sources[0].slice.size();
  // What is done for the sources of a step of one piece was counted when it began, and its destinations are few.
  if (size == 1) {
    lane.value = fold(step, lane.rank, 0);
    for (const Endpoint& end : step.destinations)
      if (end.place != Place::message) store_piece(end, lane.rank, end.slice, lane.value);
    return;
  }
  for (std::uint32_t piece = 0; piece < size && !ends(step.sources.size()); ++piece)
    lane.made.push_back(fold(step, lane.rank, piece));
  lane.value = lane.made.empty() ? 0 : lane.made[0];
  for (const Endpoint& end : step.destinations) {
    if (end.place == Place::message) continue;
    const std::uint32_t blocks = schedule_.division(end.slice.space).blocks;
    for (std::uint32_t piece = 0; piece < lane.made.size() && !ends(1); ++piece)
      store_piece(end, lane.rank, piece_at(end.slice, piece, blocks), lane.made[piece]);
  }
}

void Engine::store_piece(const Endpoint& end, std::uint32_t rank, const Slice& to, Fingerprint value) {
  if (end.place != Place::multicast) return contents_->set(end.place == Place::local ? rank : end.rank, to, value);
  for (std::uint32_t each = 0; each < schedule_.num_ranks && !ends(1); ++each) contents_->set(each, to, value);
}

Fingerprint Engine::fold(const Step& step, std::uint32_t rank, std::uint32_t piece) {
  Fingerprint sum = 0;
  for (const Endpoint& end : step.sources) {
    if (end.place == Place::message) {
      if (lane_->is_nothing) continue;
      const Transfer& message = transfers_[connections_[incoming(*lane_, end)].first];
      sum += end.slice.size() == 1 ? message.value : contents_->payload(message.payload)[piece];
      continue;
    }
    const Slice from = piece_at(end.slice, piece, schedule_.division(end.slice.space).blocks);
    const auto of = [&](std::uint32_t owner) {
      return options_.staged ? contents_->copied(owner, end.post, from) : contents_->at(owner, from);
    };
    switch (end.place) {
      case Place::local: sum += contents_->at(rank, from); break;
      case Place::remote: sum += of(end.rank); break;
      case Place::multicast:
        for (std::uint32_t owner = 0; owner < schedule_.num_ranks && !ends(1); ++owner) sum += of(owner);
        break;
      case Place::message: break;
    }
  }
  return sum;
}

}  // namespace tutti::simulate
