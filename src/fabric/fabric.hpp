// SPDX-License-Identifier: Apache-2.0
// A fabric: the ranks of a machine, the cores and memories they work with, the switches and links between them, and
// what each costs. Made by generators (generate.hpp), from a file (fabric_file.hpp), or by a probe. Plain values.
//
// Times are nanoseconds and rates are bytes a nanosecond, which is GB/s of 10^9 bytes; so bytes / rate is a time. A
// rate of 0 stands for no limit: what it governs takes no time.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/curve.hpp"

namespace tutti::fabric {

// Where links begin and end.
struct Node {
  std::string name;        // "rank 3", "switch 0", "cube 2.1"
  bool is_switch = false;  // else ranks sit here
  bool multicast = false;  // a switch that copies to many, and folds what comes from many
  double x = 0;            // where a drawing puts it
  double y = 0;
};

// One direction of a cable, a port, or a bus. What crosses it goes one after another, or shares its rate.
struct Link {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  double bandwidth = 0;
  double latency = 0;
  double gap = 0;  // the least time between two messages that enter by it
};

// Of which schedules costs are: a kernel that loads and stores costs other things than one that sends messages. A
// runtime may have shorter ways for direct schedules of one phase, in which each rank posts all before it does anything
// else, and of these for exchanges, in which each rank exposes its input once and folds all of them. Direct schedules
// that store in other ranks' memory may cost other things than those that only load.
enum class Channels : std::uint8_t { all, messages, direct, one_phase, exchange, stores };

// What a rank's core is busy with when it communicates.
struct Costs {
  double send_overhead = 0;     // a message
  double receive_overhead = 0;  // a message
  double send_per_byte = 0;     // beside that: where the core itself carries the bytes to the queue
  double receive_per_byte = 0;
  // What its loads from one other rank, and from all at once by a switch that folds, can carry: as much as it has asked
  // for at a time in each round trip.
  double read_rate = 0;
  double multicast_read_rate = 0;
  double multicast_bandwidth = 0;  // what a link carries of what a switch folds or copies
  double store_overhead = 0;       // each rank that a step stores to
  double post_overhead = 0;        // making something known to others: expose, open, signal
  double wait_overhead = 0;        // a wait or a close, once it is over
  double launch = 0;               // once an operation, before its first step
  double finish = 0;               // and after its last
  // Where the core itself carries what others get or have written (`carries`): how long one pass over so many bytes
  // takes, by what is done in it, own buffers being near.
  Curve send_times = {};              // own bytes to another rank
  Curve receive_times = {};           // another rank's bytes to one's own
  Curve fold_times = {};              // another rank's bytes and one's own folded to one's own
  Curve forward_times = {};           // another rank's bytes to one's own, and on to another rank
  Curve fold_forward_times = {};      // another rank's bytes and one's own folded, the same way
  Channels channels = Channels::all;  // whose schedules they are of
  std::uint64_t up_to = 0;            // and of operations of at most so many bytes; 0: of all that no such limit covers
  std::string name = "costs";         // what files call them

  [[nodiscard]] bool carries() const { return !send_times.empty() || !receive_times.empty(); }
};

// The kind of memory that a rank's buffers lie in. Folding k sources into m destinations moves (k + m) times the bytes.
struct Memory {
  std::string name = "memory";
  double bandwidth = 0;
  double latency = 0;   // of the first access of a step
  double messages = 0;  // what goes out of it as messages, or comes in; 0: links set the pace
  double fold = 0;      // the rate of folding where the arithmetic, and not the memory, is the limit: bytes of result
  // By the working set: the bytes that the ranks of a core touch in an operation.
  Curve bandwidths = {};         // in place of the bandwidth
  Curve beside_bandwidths = {};  // what own bytes take beside others', in a pass that carries these as well
};

enum class BackPressure : std::uint8_t {
  poll,   // who has no credit looks again and again
  sleep,  // is woken
};

// What becomes of a message that is longer than a slot.
enum class LongMessages : std::uint8_t {
  rounds,  // there are none: the whole operation is done in rounds, as many as let each message fit a slot
  slots,   // it takes several slots, one after another, and who receives it takes out what has come
};

// The queue of each connection between two ranks.
struct Queue {
  std::uint32_t slots = 0;         // messages in flight; 0 is no limit
  std::uint64_t slot_bytes = 0;    // the longest message; 0 is no limit
  std::uint32_t credit_bytes = 0;  // what the receiver sends back for each message taken; 0: it is known at once
  LongMessages long_messages = LongMessages::rounds;
  BackPressure back_pressure = BackPressure::poll;
  double poll_interval = 0;  // polling: how far apart the looks are
  double wake = 0;           // sleeping: from the credit's arrival until the sender goes on
};

// A kernel that is compiled for some numbers of ranks. With any other, its threads load from one rank after another, so
// that the loads of a step have the read rate of one rank together.
struct Kernel {
  std::string algorithm;
  std::vector<std::uint32_t> ranks;
  friend bool operator==(const Kernel&, const Kernel&) = default;
};

// How a program does a collective there; what `tutti simulate` has options for.
struct Way {
  std::string algorithm;
  std::string costs = {};         // the kind, by its name; empty: as schedules of its channel cost
  std::uint32_t parts = 1;        // side by side
  std::uint32_t copies = 0;       // of the whole buffer, before and after
  std::uint32_t part_copies = 0;  // of each rank's part, in the operation
  bool by_name = false;           // what is exposed is read where it lies
  std::uint64_t above = 0;        // only for operations of more bytes,
  std::uint32_t from_ranks = 1;   // and of that many ranks or more
  friend bool operator==(const Way&, const Way&) = default;
};

// What people run there. Of several ways it takes the fastest.
struct Implementation {
  std::string name;
  std::string collective = "all_reduce";
  std::vector<Way> ways;
  friend bool operator==(const Implementation&, const Implementation&) = default;
};

struct Core {
  double switch_cost = 0;  // when another rank than the last one gets it
};

// Where a rank is and what it has.
struct RankPlacement {
  std::uint32_t node = 0;
  std::uint32_t core = 0;    // ranks of the same core work one at a time
  std::uint32_t costs = 0;   // of Fabric::costs
  std::uint32_t memory = 0;  // of Fabric::memories
};

// The link that leads from node `at` towards node `to`, which is another one.
using NextLink = std::function<std::uint32_t(std::uint32_t at, std::uint32_t to)>;

struct Fabric {
  std::string name;  // as it was asked for: "torus_2d:2x3"
  std::vector<Node> nodes;
  std::vector<Link> links;
  std::vector<RankPlacement> ranks;
  std::vector<Core> cores;
  std::vector<Costs> costs = {Costs{}};
  std::vector<Memory> memories = {Memory{}};
  Queue queue;
  std::vector<Kernel> kernels = {};  // those of other algorithms are compiled for every number of ranks
  std::vector<Implementation> implementations = {};
  // What made nodes, links and routes, in full: "torus_2d:2x3,bandwidth=25GB/s"; links may have been changed since.
  // Empty where they stand by themselves.
  std::string generator = {};
  // Where ranks are on a grid, the sizes of its dimensions, {4, 2} of 4x2: rank = x + 4 · y. Where fabrics are within
  // one another it is that of each copy, one after another. Empty: they are on none.
  std::vector<std::uint32_t> grid = {};
  // The machine profile by which Tutti chooses algorithms there, by name.
  std::string profile = "generic";
  // Routes of a regular fabric; empty where the way with the least latency is meant (routes.hpp).
  NextLink next_link = {};

  [[nodiscard]] std::uint32_t num_ranks() const { return static_cast<std::uint32_t>(ranks.size()); }
  // The grid of the first so many ranks: only of all.
  [[nodiscard]] std::vector<std::uint32_t> grid_of(std::uint32_t first_ranks) const {
    return first_ranks == num_ranks() ? grid : std::vector<std::uint32_t>();
  }
};

// Whether the kernel of the algorithm, whose parameters are left out, is compiled for so many ranks.
[[nodiscard]] bool is_compiled_for(const Fabric& fabric, std::string_view algorithm, std::uint32_t ranks);

}  // namespace tutti::fabric
