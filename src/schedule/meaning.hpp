// SPDX-License-Identifier: Apache-2.0
// What each step means: the one definition that prove, execution on numbers, the simulator and the runtime's generic
// walker share. A machine says how its world does the few things that a step asks for; perform() says which, in which
// order, and when a step has to wait.
//
// A Machine has:
//   bool has_message(const Endpoint&)      a message from end.rank on end.channel has arrived and not been taken
//   bool has_credit(const Endpoint&)       the connection to end.rank on end.channel takes one more message
//   bool has_posted(rank, post)            `rank` has made that post in this round
//   std::uint32_t num_ranks()
//   bool has_slot(step)                      expose: a staging slot is free (always, where exposing is by name)
//   bool all_done()                        close: every rank is done with what this rank exposed and opened this round
//   void combine(const Step&)              fold the sources, write the destinations
//   void take(const Endpoint&)             the oldest message of that connection has been used up
//   void publish(const Endpoint&)          the message written is there for end.rank to take
//   void post(const Step&)                 expose, open and signal: make it known (an expose copies first, if staged)
// and, where connections may be of depth 0 (rendezvous: a send is over only together with its receive),
//   bool is_taken(const Endpoint&)         end.rank has taken the message that this step published
// All of them speak of the machine's present rank, lane and round. Conditions once true stay true until perform() of
// the same lane changes them: whoever waits may wait for one after the other.
#pragma once

#include <algorithm>
#include <cstdint>

#include "schedule/step.hpp"

namespace tutti {

// Whether who is at the other end has permitted what the step does there.
template <typename Machine>
[[nodiscard]] bool is_permitted(const Endpoint& end, Machine& machine) {
  if (end.place == Place::remote) return machine.has_posted(end.rank, end.post);
  if (end.place != Place::multicast) return true;
  for (std::uint32_t rank = 0; rank < machine.num_ranks(); ++rank)
    if (!machine.has_posted(rank, end.post)) return false;
  return true;
}

// The first thing that keeps the step from being performed, as the machine's answer to it; or that nothing does.
template <typename Machine>
[[nodiscard]] bool is_ready(const Step& step, Machine& machine) {
  switch (step.kind) {
    case StepKind::combine:
      for (const Endpoint& end : step.sources) {
        if (end.place == Place::message && !machine.has_message(end)) return false;
        if (!is_permitted(end, machine)) return false;
      }
      for (const Endpoint& end : step.destinations) {
        if (end.place == Place::message && !machine.has_credit(end)) return false;
        if (!is_permitted(end, machine)) return false;
      }
      return true;
    case StepKind::expose: return machine.has_slot(step);
    case StepKind::open:
    case StepKind::signal: return true;
    case StepKind::wait:
      return std::all_of(step.peers.begin(), step.peers.end(),
                         [&](std::uint32_t peer) { return machine.has_posted(peer, step.post); });
    case StepKind::close: return machine.all_done();
  }
  return true;
}

// Does what a ready step means.
template <typename Machine>
void perform(const Step& step, Machine& machine) {
  switch (step.kind) {
    case StepKind::combine:
      machine.combine(step);
      for (const Endpoint& end : step.sources)
        if (end.place == Place::message) machine.take(end);
      for (const Endpoint& end : step.destinations)
        if (end.place == Place::message) machine.publish(end);
      return;
    case StepKind::expose:
    case StepKind::open:
    case StepKind::signal: machine.post(step); return;
    case StepKind::wait:
    case StepKind::close: return;
  }
}

// Rendezvous only: whether a step that has been performed is over, so that its lane may go on.
template <typename Machine>
[[nodiscard]] bool is_passed(const Step& step, Machine& machine) {
  return std::all_of(step.destinations.begin(), step.destinations.end(),
                     [&](const Endpoint& end) { return end.place != Place::message || machine.is_taken(end); });
}

}  // namespace tutti
