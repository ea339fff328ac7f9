// SPDX-License-Identifier: Apache-2.0
// The figures of links, costs, memories and queues by their names: one table for the parameters of generators, the keys
// of files, what is written, and what is told of them. Constants and pure functions; thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "base/status.hpp"
#include "fabric/fabric.hpp"

namespace tutti::fabric {

enum class Unit : std::uint8_t {
  rate,   // "25GB/s"
  time,   // "1.5us"
  bytes,  // "4K"
  count,  // 4
  word,   // one of a few
  times,  // "64:120ns 4K:1.1us"
  rates,  // "32K:80GB/s 4M:20GB/s"
};

// Of one member of an Owner.
template <typename Owner>
struct Field {
  std::string_view name;
  Unit unit = Unit::count;
  std::variant<double Owner::*, std::uint32_t Owner::*, std::uint64_t Owner::*, BackPressure Owner::*,
               LongMessages Owner::*, Channels Owner::*, Curve Owner::*>
      member;
  std::string_view about;
};

inline constexpr auto kLinkFields = std::to_array<Field<Link>>({
    {"bandwidth", Unit::rate, &Link::bandwidth, "what a link carries"},
    {"latency", Unit::time, &Link::latency, "from a link's beginning to its end"},
    {"gap", Unit::time, &Link::gap, "the least time between two messages that enter by a link"},
});

inline constexpr auto kCostFields = std::to_array<Field<Costs>>({
    {"send_overhead", Unit::time, &Costs::send_overhead, "of the sender's core, a message"},
    {"receive_overhead", Unit::time, &Costs::receive_overhead, "of the receiver's core, a message"},
    {"send_per_byte", Unit::time, &Costs::send_per_byte, "beside that, where the core itself carries the bytes"},
    {"receive_per_byte", Unit::time, &Costs::receive_per_byte, "the same of the receiver"},
    {"read_rate", Unit::rate, &Costs::read_rate, "what loads from one other rank can carry"},
    {"multicast_read_rate", Unit::rate, &Costs::multicast_read_rate, "the same of loads that a switch folds"},
    {"multicast_bandwidth", Unit::rate, &Costs::multicast_bandwidth,
     "what a link carries of what a switch folds or copies; else its bandwidth"},
    {"store_overhead", Unit::time, &Costs::store_overhead, "of a step's core, each rank that it stores to"},
    {"post_overhead", Unit::time, &Costs::post_overhead, "making something known to others: expose, open, signal"},
    {"wait_overhead", Unit::time, &Costs::wait_overhead, "a wait or a close, once it is over"},
    {"launch", Unit::time, &Costs::launch, "once an operation, before its first step"},
    {"finish", Unit::time, &Costs::finish, "once an operation, after its last step"},
    {"send_times", Unit::times, &Costs::send_times, "the core carries: own bytes to another rank"},
    {"receive_times", Unit::times, &Costs::receive_times, "the core carries: another rank's bytes to its own"},
    {"fold_times", Unit::times, &Costs::fold_times, "the core carries: another rank's bytes folded with its own"},
    {"forward_times", Unit::times, &Costs::forward_times, "the core carries: another's bytes to its own, and on"},
    {"fold_forward_times", Unit::times, &Costs::fold_forward_times, "the core carries: folded with its own, and on"},
    {"channels", Unit::word, &Costs::channels,
     "of which schedules: all, those by messages, direct ones, or of these one_phase, exchange or stores"},
    {"up_to", Unit::bytes, &Costs::up_to, "of operations of at most so many bytes; 0: of the others"},
});

inline constexpr auto kMemoryFields = std::to_array<Field<Memory>>({
    {"bandwidth", Unit::rate, &Memory::bandwidth, "what the memory that buffers lie in reads and writes"},
    {"latency", Unit::time, &Memory::latency, "of the first access of a step"},
    {"messages", Unit::rate, &Memory::messages, "what messages read or write there; else links set the pace"},
    {"fold", Unit::rate, &Memory::fold, "the rate of folding, in bytes of result"},
    {"bandwidths", Unit::rates, &Memory::bandwidths, "in place of bandwidth: by the working set"},
    {"beside_bandwidths", Unit::rates, &Memory::beside_bandwidths,
     "of own bytes in a pass that carries others' as well"},
});

inline constexpr auto kQueueFields = std::to_array<Field<Queue>>({
    {"slots", Unit::count, &Queue::slots, "messages in flight between two ranks; 0: no limit"},
    {"slot_bytes", Unit::bytes, &Queue::slot_bytes, "the longest message; 0: no limit"},
    {"credit_bytes", Unit::bytes, &Queue::credit_bytes, "what goes back for each message taken; 0: nothing"},
    {"long_messages", Unit::word, &Queue::long_messages,
     "longer than a slot: rounds of the operation, or several slots"},
    {"back_pressure", Unit::word, &Queue::back_pressure, "who has no credit will poll or sleep"},
    {"poll_interval", Unit::time, &Queue::poll_interval, "polling: how far apart the looks are"},
    {"wake", Unit::time, &Queue::wake, "sleeping: from the credit's arrival until the sender goes on"},
});

inline constexpr auto kCoreFields = std::to_array<Field<Core>>({
    {"switch_cost", Unit::time, &Core::switch_cost, "when a core goes on with another of its ranks"},
});

// What a field of this unit takes, for messages: "a time such as \"1.5us\"".
[[nodiscard]] std::string_view example_of(Unit unit);

// Reads `text` into the field, or says what is wrong with it.
template <typename Owner>
[[nodiscard]] Status set(const Field<Owner>& field, std::string_view text, Owner& owner);

// As `set` reads it back.
template <typename Owner>
[[nodiscard]] std::string get(const Field<Owner>& field, const Owner& owner);

}  // namespace tutti::fabric
