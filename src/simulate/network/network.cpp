// SPDX-License-Identifier: Apache-2.0
#include "simulate/network/network.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace tutti::simulate {

namespace {

// Bytes; what is left at the end that was reckoned is a rounding error.
constexpr double kNothing = 1e-6;
// Rates that differ by no more are the same.
constexpr double kSameRate = 1e-12;

std::vector<double> capacities_of(const fabric::Fabric& fabric) {
  std::vector<double> capacities;
  capacities.reserve(fabric.links.size());
  for (const fabric::Link& link : fabric.links) capacities.push_back(link.bandwidth);
  return capacities;
}

constexpr std::uint32_t kNoLink = UINT32_MAX;

}  // namespace

Network::Network(const fabric::Fabric& fabric, Transfers& transfers, Events& events, Arrival arrival, Arrival departure)
    : links_(fabric.links.size()),
      solver_(capacities_of(fabric)),
      transfers_(transfers),
      events_(events),
      arrival_(std::move(arrival)),
      departure_(std::move(departure)) {
  is_link_found_.resize(links_.size());
  for (std::size_t number = 0; number < links_.size(); ++number) {
    const fabric::Link& link = fabric.links[number];
    links_[number].bandwidth = link.bandwidth;
    links_[number].latency = link.latency;
    links_[number].gap = link.gap;
  }
}

std::vector<LinkUse> Network::uses() const {
  std::vector<LinkUse> uses;
  uses.reserve(links_.size());
  for (const Link& link : links_)
    uses.push_back({link.crossed, link.bandwidth > 0 ? link.crossed / link.bandwidth : 0});
  return uses;
}

void Network::Flowing::add(TransferId id) {
  if (count_ > 0) {
    if (several_ == nullptr) several_ = std::make_unique<std::vector<TransferId>>();
    if (count_ == 1) several_->assign(1, one_);
    several_->push_back(id);
  }
  one_ = id;
  ++count_;
}

void Network::Flowing::remove(TransferId id) {
  if (count_ == 1) {
    count_ = one_ == id ? 0 : 1;
  } else if (count_ > 1) {
    std::erase(*several_, id);
    count_ = static_cast<std::uint32_t>(several_->size());
    if (count_ == 1) one_ = several_->front();
  }
}

bool Network::is_over(const Course& course, double now) const {
  return course.end <= now || (course.end - now) * course.rate <= kNothing;
}

bool Network::is_end_awaited(TransferId id) const {
  return courses_[id].follower != kNoTransfer || transfers_[id].cargo == Cargo::write;
}

// The link by which it enters, one after another: the first of its way that limits anything.
std::uint32_t Network::entry_of(const Transfer& transfer) const {
  if (transfer.cargo == Cargo::read || transfer.cargo == Cargo::write) return kNoLink;
  for (const std::uint32_t link : transfer.links)
    if (links_[link].bandwidth > 0 || links_[link].gap > 0) return link;
  return kNoLink;
}

void Network::start(TransferId id, double now) {
  Transfer& transfer = transfers_[id];
  transfer.started = now;
  if (id >= courses_.size()) courses_.resize(id + 1);
  if (transfer.links.empty()) {  // within a node
    if (transfer.cargo == Cargo::write) departure_(id, now);
    return arrival_(id, now);
  }
  Course& course = courses_[id];
  course.follower = kNoTransfer;
  if (transfer.cargo == Cargo::message) {
    if (transfer.whose >= last_of_.size()) last_of_.resize(transfer.whose + 1, kNoTransfer);
    const TransferId before = std::exchange(last_of_[transfer.whose], id);
    if (before != kNoTransfer) {
      Course& other = courses_[before];
      if (!other.flows || !is_over(other, now)) {
        other.follower = id;
        if (other.flows && other.rate > 0) events_.push(other.end, {Turn::Of::end, other.version, before});
        return;
      }
      leave(before, now);
    }
  }
  queue(id, now);
  settle(now);
}

void Network::queue(TransferId id, double now) {
  const std::uint32_t entry = entry_of(transfers_[id]);
  if (entry == kNoLink) return enter(id, entry, now);
  Link& link = links_[entry];
  if (link.first == kNoTransfer && link.next_entry <= now) return enter(id, entry, now);
  courses_[id].behind = kNoTransfer;
  const bool is_first = link.first == kNoTransfer;
  (is_first ? link.first : courses_[link.last].behind) = id;
  link.last = id;
  if (is_first) events_.push(link.next_entry, {.of = Turn::Of::entry, .id = entry});
}

// The transfer begins to flow. Its rate is known at once if no other shares a link with it.
void Network::enter(TransferId id, std::uint32_t entry, double now) {
  const Transfer& transfer = transfers_[id];
  Course& course = courses_[id];
  ++course.version;
  course.left = transfer.bytes;
  course.since = now;
  course.alone = 0;
  bool is_among_others = false;
  double latency = 0;
  double beside = 0;
  for (std::size_t hop = 0; hop < transfer.links.size(); ++hop) {
    const std::uint32_t number = transfer.links[hop];
    Link& link = links_[number];
    // Of several the next to leave has an event; one alone may be over.
    if (const auto alone = link.flowing.all(); alone.size() == 1 && alone[0] != id && is_over(courses_[alone[0]], now))
      leave(alone[0], now);
    link.flowing.add(id);
    const auto way = transfer.links.first(hop + 1);
    const auto times = static_cast<std::size_t>(std::count(way.begin(), way.end(), number));
    is_among_others = is_among_others || link.flowing.all().size() > times;
    link.crossed += transfer.bytes;
    if (link.bandwidth > 0)
      course.alone = std::max(course.alone, static_cast<double>(times) * transfer.bytes / link.bandwidth);
    if (transfer.is_tree && number != transfer.links.front()) {
      beside = std::max(beside, link.latency);
    } else {
      latency += link.latency;
    }
  }
  course.latency = latency + beside;
  course.flows = true;
  if (entry != kNoLink) {
    Link& link = links_[entry];
    link.next_entry = now + std::max(link.gap, link.bandwidth > 0 ? transfer.bytes / link.bandwidth : 0);
  }
  if (is_among_others && course.alone > 0) {
    course.rate = 0;
    course.end = std::numeric_limits<double>::infinity();
    return seed(id);
  }
  course.rate = course.alone > 0 ? transfer.bytes / course.alone : std::numeric_limits<double>::infinity();
  course.end = now + course.alone;
  events_.push(course.end + course.latency, {Turn::Of::arrival, course.version, id});
  if (is_end_awaited(id)) events_.push(course.end, {Turn::Of::end, course.version, id});
}

// It has left whole: its links are the others'.
void Network::leave(TransferId id, double now) {
  const Transfer& transfer = transfers_[id];
  courses_[id].flows = false;
  for (const std::uint32_t link : transfer.links) {
    links_[link].flowing.remove(id);
    // One stands for all that flow on a link: they are found together. If it leaves too, it leaves another one.
    const std::span<const TransferId> others = links_[link].flowing.all();
    if (links_[link].bandwidth > 0 && !others.empty()) seed(others.back());
  }
  Course& course = courses_[id];
  if (transfer.cargo == Cargo::message && last_of_[transfer.whose] == id) last_of_[transfer.whose] = kNoTransfer;
  if (course.follower != kNoTransfer) free_.push_back(std::exchange(course.follower, kNoTransfer));
  if (transfer.cargo == Cargo::write) departure_(id, now);
}

void Network::let_in(std::uint32_t link, double now) {
  Link& state = links_[link];
  const TransferId id = state.first;
  state.first = courses_[id].behind;
  enter(id, link, now);
  if (state.first != kNoTransfer) events_.push(state.next_entry, {.of = Turn::Of::entry, .id = link});
}

// What has left lets the next of its connection go.
void Network::let_follow(double now) {
  while (!free_.empty()) {
    const TransferId id = free_.back();
    free_.pop_back();
    queue(id, now);
  }
}

// Rates are found once for all that begins and ends at a time.
void Network::settle(double now) {
  let_follow(now);
  if (seeds_.empty() || will_change_rates_) return;
  will_change_rates_ = true;
  events_.push(now, {.of = Turn::Of::rates});
}

void Network::turn(const Turn& turn, double now) {
  switch (turn.of) {
    case Turn::Of::arrival:
    case Turn::Of::end: {
      Course& course = courses_[turn.id];
      const double due = turn.of == Turn::Of::end ? course.end : course.end + course.latency;
      if (course.version != turn.version || now != due) return;  // its rate has changed since
      if (course.flows) leave(turn.id, now);
      if (turn.of == Turn::Of::arrival) {
        Transfer& transfer = transfers_[turn.id];
        ++course.version;
        const double queued = course.end - transfer.started - course.alone;
        transfer.queueing = queued > kSameRate * course.end ? queued : 0;
        transfer.latency = course.latency;
        arrival_(turn.id, now);
      }
      break;
    }
    case Turn::Of::entry: let_in(turn.id, now); break;
    case Turn::Of::rates: change_rates(now); break;
    default: break;
  }
  settle(now);
}

void Network::seed(TransferId id) {
  if (courses_[id].is_seed) return;
  courses_[id].is_seed = true;
  seeds_.push_back(id);
}

void Network::change_rates(double now) {
  while (!seeds_.empty()) {
    const TransferId id = seeds_.back();
    seeds_.pop_back();
    if (!courses_[id].is_seed) continue;
    courses_[id].is_seed = false;
    if (!courses_[id].flows) continue;
    if (find_together(id, now)) {
      solve(now);
      continue;
    }
    // First all that is over leaves, and what comes after it enters.
    seed(id);
    for (const TransferId over : over_) leave(over, now);
    let_follow(now);
  }
  will_change_rates_ = false;
}

// What shares links with it, directly or by way of others; whether none of that is over.
bool Network::find_together(TransferId seed, double now) {
  together_.assign(1, seed);
  over_.clear();
  courses_[seed].is_found = true;
  for (std::size_t at = 0; at < together_.size(); ++at) {
    const TransferId id = together_[at];
    if (courses_[id].rate > 0 && is_over(courses_[id], now)) over_.push_back(id);
    for (const std::uint32_t link : transfers_[id].links) {
      const std::span<const TransferId> flowing = links_[link].flowing.all();
      // What flows alone has no neighbours, and those of a link are found once.
      if (links_[link].bandwidth <= 0 || flowing.size() <= 1 || is_link_found_[link]) continue;
      is_link_found_[link] = true;
      found_links_.push_back(link);
      for (const TransferId other : flowing) {
        if (courses_[other].is_found) continue;
        courses_[other].is_found = true;
        together_.push_back(other);
      }
    }
  }
  for (const TransferId id : together_) courses_[id].is_found = false;
  for (const std::uint32_t link : found_links_) is_link_found_[link] = false;
  found_links_.clear();
  return over_.empty();
}

void Network::solve(double now) {
  flows_.clear();
  for (const TransferId id : together_) {
    courses_[id].is_seed = false;
    flows_.push_back({.links = transfers_[id].links});
  }
  solver_.solve(flows_);
  TransferId next = together_.front();
  for (std::size_t at = 0; at < together_.size(); ++at) {
    set_rate(together_[at], flows_[at].rate, now);
    if (courses_[together_[at]].end < courses_[next].end) next = together_[at];
  }
  if (together_.size() > 1) events_.push(courses_[next].end, {Turn::Of::end, courses_[next].version, next});
}

void Network::set_rate(TransferId id, double rate, double now) {
  Course& course = courses_[id];
  if (std::abs(rate - course.rate) <= kSameRate * rate) return;
  course.left = std::max(0.0, course.left - course.rate * (now - course.since));
  course.since = now;
  course.rate = rate;
  course.end = now + course.left / rate;
  ++course.version;
  events_.push(course.end + course.latency, {Turn::Of::arrival, course.version, id});
  if (is_end_awaited(id)) events_.push(course.end, {Turn::Of::end, course.version, id});
}

}  // namespace tutti::simulate
