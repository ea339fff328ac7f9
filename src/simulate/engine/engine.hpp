// SPDX-License-Identifier: Apache-2.0
// The ranks of a simulated operation. Each lane stands at a step until what the step waits for has come, is busy with
// it for as long as it takes, and goes on; whoever it waits for wakes it.
//
// It is the Machine of schedule/meaning.hpp: an answer of no leaves the present lane registered where it will be woken,
// or with a turn at the time at which the answer is yes. Used once; one thread at a time. Borrows everything.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "simulate/engine/connections.hpp"
#include "simulate/engine/contents.hpp"
#include "simulate/engine/cursor.hpp"
#include "simulate/engine/passes.hpp"
#include "simulate/engine/sizes.hpp"
#include "simulate/engine/symmetry.hpp"
#include "simulate/engine/watch.hpp"
#include "simulate/huge_pages.hpp"
#include "simulate/network/ways.hpp"
#include "simulate/simulate.hpp"

namespace tutti::simulate {

class Engine {
 public:
  // With a symmetry only the ranks that stand for the others are walked, and nothing is carried.
  Engine(const Schedule& schedule, const fabric::Fabric& fabric, const Options& options, const Sizes& sizes,
         const Symmetry* symmetry, Watch& watch);

  // Until nothing happens any more; then says what is wrong, if anything is (see simulate()).
  [[nodiscard]] Status run();
  [[nodiscard]] Answer answer() const;

  // The Machine.
  bool has_message(const Endpoint& end);
  bool has_credit(const Endpoint& end);
  bool has_posted(std::uint32_t rank, std::uint32_t post);
  [[nodiscard]] std::uint32_t num_ranks() const { return schedule_.num_ranks; }
  bool has_slot(const Step&) { return true; }
  bool all_done();

 private:
  enum class Stage : std::uint8_t {
    waiting,  // for what the step needs
    reading,  // from other ranks' memory
    working,  // the core is busy with the step
    sending,  // what it has made, one destination after another
    over,     // all rounds are done
  };
  struct LaneState {
    std::optional<Cursor> cursor;
    const Step* step = nullptr;
    std::uint32_t rank = 0;
    std::uint32_t lane = 0;
    std::uint32_t core = 0;
    Stage stage = Stage::waiting;
    bool is_busy = false;  // the core is, with the destination that is being served
    std::uint64_t round = 0;
    std::uint32_t passed = 0;          // one more than the number of the last step passed in this round
    std::uint32_t destination = 0;     // sending: the one that is being served
    std::uint32_t reads = 0;           // under way
    bool is_streaming = false;         // what the step reads it stores elsewhere as it comes
    std::vector<TransferId> fed;       // by these writes, until when the last of it comes is known
    std::uint32_t remote_left = 0;     // steps of this round with remote ends, where it is known
    const Endpoint* source = nullptr;  // of the step: a message, and
    std::uint32_t from_source = 0;     // its connection
    double length = 0;                 // bytes that each end of the step moves
    bool is_nothing = false;           // so that its messages are left out
    Moment last;                       // the last step was passed
    // While the step at hand waits: the latest of what it has waited for so far, and how many posts it has seen.
    bool is_looking = false;
    std::uint32_t num_met = 0;  // of what the step comes after
    bool is_queued = false;     // what it waited for has come, and others of its core have that
    bool lacked_room = false;
    std::uint32_t posts_seen = 0;
    Moment cause;
    double begun = 0;                      // when all that the step waits for had come
    double busy_until = 0;                 // reading: the core is with the step until then
    Moment read;                           // reading: the last arrival so far
    Shares shares;                         // of the time until now, or until the core is done
    Fingerprint value = 0;                 // of the first piece that the step has made, and
    std::vector<Fingerprint> made;         // of all
    std::vector<std::uint32_t> followers;  // lanes of the rank that wait until this one has passed, or begun, a step
    // Of a trace: one more than the number of the last step that has begun, and when it does.
    std::uint32_t num_begun = 0;
    double begun_at = 0;
  };
  // A post, or that a lane is done with a round: others see it once all that the rank has stored before is there.
  struct Announcement {
    bool is_post = false;
    std::uint32_t number = 0;  // of the post, or the lane's
    std::uint64_t round = 0;
    std::uint64_t order = 0;   // among those of its rank
    std::uint32_t stores = 0;  // that were made before and are under way
    Moment moment;
  };
  struct RankState {
    std::vector<std::vector<Moment>> posts;  // by round, by number
    std::vector<std::uint32_t> waiting;      // lanes of any rank, for its posts
    std::uint32_t stores = 0;                // under way
    double stored = 0;                       // when the last of those that are not arrived, less the latency of its way
    std::uint64_t announced = 0;
    std::vector<Announcement> withheld;
    double ended = 0;
  };
  // What a core is busy with.
  struct Work {
    double overhead = 0;
    double copying = 0;
    double reducing = 0;
  };
  struct CoreState {
    double free = 0;
    std::uint32_t last_rank = kNobody;
    // Where several ranks have it: who has it until that rank waits for something, and which lanes of others would go
    // on.
    bool is_shared = false;
    bool is_asked = false;  // a turn will see whether that rank still needs it
    std::uint32_t holder = kNobody;
    std::vector<std::uint32_t> queued;
  };
  // What `close` has to know, found before anything happens, or at the latest when the first post is made.
  struct Direct {
    std::vector<std::uint32_t> remote_steps;  // of a round, by lane
    std::vector<bool> opens;                  // by rank
    std::uint32_t lanes = 0;                  // that have remote steps
    std::vector<std::vector<Moment>> done;    // by round, by lane: it had passed the last of them
    std::vector<std::uint32_t> num_done;      // by round
    std::vector<std::uint32_t> waiting;       // lanes, for all to be done
    bool multicasts = false;
  };

  // The links of a rank's multicasts, the rank's own one first.
  struct Tree {
    std::vector<std::uint32_t> up;    // what is folded: all ranks' links to the switch, and the one from there
    std::vector<std::uint32_t> down;  // what is copied: the link to the switch, and those from there to the others
  };

  [[nodiscard]] std::uint32_t num_walked() const {
    return symmetry_ == nullptr ? schedule_.num_ranks : static_cast<std::uint32_t>(symmetry_->representatives().size());
  }

  // A lane's course. Each says whether the lane can go on at once.
  void go_on(std::uint32_t id);
  bool fetch(LaneState& lane);
  [[nodiscard]] std::uint64_t bytes_of(const LaneState& lane) const;
  bool begin(LaneState& lane);
  // Whether what the present step comes after is over, and has begun.
  bool has_passed(LaneState& lane);
  bool has_begun(LaneState& lane);
  void note_begin(LaneState& lane, double time);
  [[nodiscard]] bool sends_empty();
  bool work(LaneState& lane);
  bool send(LaneState& lane);
  void pass(LaneState& lane);
  bool end_round(LaneState& lane);

  // Whether the lane's rank has its core; else the lane is queued for it.
  bool has_core(LaneState& lane);
  // The present lane goes no further for now: its rank may not need the core any more.
  void ask_for_core(const LaneState& lane);
  void give_core_on(std::uint32_t number);
  // Keeps the rank's core busy from now on, or from when others have had it; when that ends.
  double occupy(LaneState& lane, const Work& work);
  // The lane has a turn at `time`, if that is not now; whether it has.
  bool later(const LaneState& lane, double time);
  [[nodiscard]] Work work_of(const LaneState& lane);
  [[nodiscard]] Work work_of_pass(const LaneState& lane);
  [[nodiscard]] bool stays(const LaneState& lane, const Slice& to) const;
  [[nodiscard]] double time_of_message(std::uint32_t rank, double bytes) const;
  // The present lane's step has waited for that.
  void caused_by(const Moment& moment);

  // What a rank gets from another, somebody gets from the one that stands for that other.
  [[nodiscard]] std::uint32_t connection_to(std::uint32_t rank, const Endpoint& end) {
    if (symmetry_ != nullptr)
      return connections_.outgoing(symmetry_->representative(end.rank), symmetry_->seen_by_class_of(end.rank, rank),
                                   end.channel);
    return connections_.incoming(rank, end.rank, end.channel);
  }
  // Of a source of the step that the lane stands at. Most steps have one that is a message, which is looked at several
  // times.
  [[nodiscard]] std::uint32_t incoming(LaneState& lane, const Endpoint& end) {
    if (lane.source != &end) {
      lane.source = &end;
      lane.from_source = connection_to(lane.rank, end);
    }
    return lane.from_source;
  }
  [[nodiscard]] std::span<const std::uint32_t> way(std::uint32_t from, std::uint32_t to);
  void take(const Endpoint& end);
  void open_to_parts(const LaneState& lane, bool is_open);
  // Of a connection, by its number.
  void take_parts(std::uint32_t number);
  void take_first(std::uint32_t number);
  void give_credit(std::uint32_t number);
  void has_room(std::uint32_t number);
  // When a sender that has lacked room since then sees that there is some now.
  [[nodiscard]] double noticed(double since) const;
  void launch(std::uint32_t number, LaneState& lane);
  TransferId launch_part(std::uint32_t number, const LaneState& lane, double bytes, bool has_more);
  void arrived(TransferId id, double time);
  void record(const Transfer& transfer, double time);
  // Who has waited for it, with what the time went for.
  [[nodiscard]] static Moment arrival_of(const Transfer& transfer, double time);

  void post(LaneState& lane);
  void end_direct_steps(LaneState& lane);
  void announce(std::uint32_t rank, Announcement announcement);
  void make_known(std::uint32_t rank, Announcement& announcement);
  Moment& post_of(std::uint32_t rank, std::uint64_t round, std::uint32_t post);
  void read(const Endpoint& end, LaneState& lane);
  void read_by_tree(LaneState& lane);
  void read(Transfer transfer, LaneState& lane, double asked);
  // Of a load; 0 of a source that is no other rank's.
  [[nodiscard]] double round_trip(const LaneState& lane, const Endpoint& end);
  void has_read(const Transfer& transfer, double time);
  // What a step that has begun to read stores elsewhere as it comes: that goes out once the first bytes of all that it
  // reads are there, and is there no sooner than the last of them, a way further.
  void stream(LaneState& lane);
  void begin_stores(LaneState& lane, double time);
  void feed_last(LaneState& lane);
  // With its first bytes on their way at `time`.
  void store(const Endpoint& end, LaneState& lane, double time);
  void store(Transfer transfer, LaneState& lane, double time);
  void has_left(TransferId id, double time);
  void has_stored(const Transfer& transfer, double stored);
  [[nodiscard]] bool has_multicast_switch();
  void wake(std::vector<std::uint32_t>& lanes, double time);
  // That much more has been done; whether all ends, for whatever reason.
  bool ends(std::uint64_t work) {
    if (!watch_.is_over(work) && wrong_.ok() && ways_.num_kept() <= kMostLinksKept) [[likely]]
      return false;
    return note_end();
  }
  // The same when there is a reason, which it keeps.
  bool note_end();
  void wake(std::uint32_t lane, double time) { events_.push(time, {.of = Turn::Of::lane, .id = lane}); }

  const Tree& tree_of(std::uint32_t rank);
  [[nodiscard]] double stretch_of(const Tree& tree, const LaneState& lane) const;
  // As far as rank 0 tells; where it does not, the first post does.
  [[nodiscard]] bool is_by_direct_steps() const;
  void learn_of_direct_steps();
  [[nodiscard]] bool carries_contents() const { return contents_ != nullptr && lane_->round == 0; }
  void make_contents(LaneState& lane);
  void store_piece(const Endpoint& end, std::uint32_t rank, const Slice& to, Fingerprint value);
  [[nodiscard]] Fingerprint fold(const Step& step, std::uint32_t rank, std::uint32_t piece);
  [[nodiscard]] Status what_is_stuck();
  [[nodiscard]] std::uint32_t id_of(const LaneState& lane) const {
    return static_cast<std::uint32_t>(&lane - lanes_.data());
  }
  // Of a trace.
  [[nodiscard]] std::size_t number_in_trace(const LaneState& lane) const {
    return options_.additions->number_of(id_of(lane), *lane.step);
  }
  [[nodiscard]] const fabric::Costs& costs_of(std::uint32_t rank) const {
    return fabric_.costs[fabric_.ranks[rank].costs];
  }

  const Schedule& schedule_;
  const fabric::Fabric& fabric_;
  const Options& options_;
  const Sizes& sizes_;
  const Symmetry* symmetry_;  // may be null
  Watch& watch_;
  bool loads_share_;                 // read_rate is for all loads of a step together
  bool by_slots_;                    // long messages take several slots
  std::optional<bool> sends_empty_;  // messages of nothing are sent all the same; found when there is one

  Events events_;
  Transfers transfers_;
  Ways ways_;
  Passes passes_;
  Connections connections_;
  Network network_;
  std::unique_ptr<Contents> contents_;
  HugeVector<LaneState> lanes_;
  HugeVector<RankState> ranks_;
  std::vector<CoreState> cores_;
  bool shares_cores_ = false;  // some core has several ranks
  std::optional<Direct> direct_;
  std::map<std::uint32_t, Tree> trees_;

  LaneState* lane_ = nullptr;  // the present one
  double now_ = 0;
  std::uint32_t posts_asked_ = 0;  // in this look at the present lane's step
  Status wrong_;                   // found on the way
  std::uint64_t messages_ = 0;
  std::uint64_t num_events_ = 0;
};

}  // namespace tutti::simulate
