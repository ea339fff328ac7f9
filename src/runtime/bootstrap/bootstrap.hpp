// SPDX-License-Identifier: Apache-2.0
// How a process becomes a rank: join() meets the other ranks at the rendezvous (rendezvous.hpp), agrees with them, and
// returns what they share: on each host a memory region, the sockets by which they notice each other's end, and where
// ranks of other hosts listen.
//
// The region is a memfd that the first rank of a host, its leader, makes and hands over by descriptor, and the sockets
// on a host are abstract, so nothing is left behind however a process dies. Every descriptor closes on exec. join()
// blocks its caller and starts no thread; several may run at once.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "base/address_lists.hpp"
#include "base/status.hpp"
#include "base/system/socket.hpp"
#include "base/system/unique_fd.hpp"
#include "base/unique_id.hpp"
#include "base/units.hpp"
#include "runtime/bootstrap/addresses.hpp"

namespace tutti {

// What this process holds of another one.
struct RankLink {
  int rank = 0;
  pid_t pid = 0;           // 0 where it is on another host or in another pid namespace, and then there is no pidfd
  UniqueFd socket;         // connected, non-blocking; SOCK_SEQPACKET
  UniqueFd pidfd;          // readable once the process has ended
  bool is_far = false;     // it is on another host: the socket is a stream
  bool is_parent = false;  // it speaks for all ranks that are not below this one
};

// A tree: the leader of each host holds a link to every other rank of its host, and to the leaders of a few other
// hosts; rank 0, which is a leader, is the root. All others have one link more or only one, to their parent.
// FailureWatch takes it.
struct Links {
  int rank = 0;
  int num_ranks = 0;
  std::vector<RankLink> peers;
};

struct Membership {
  UniqueFd region;  // of the size that was asked for, zero; may grow (ftruncate) and is sealed against shrinking
  Links links;
  std::vector<std::uint32_t> host_of;  // by rank
  // By rank, where it listens, in as many equal parts as JoinRequest::num_listeners_each, in each part the address
  // first that this rank is to try first; and where this one does. Empty where all ranks are on one host.
  AddressLists addresses;
  std::vector<Listener> listeners;
  std::vector<std::string> endpoint_names;  // by rank, of JoinRequest::open_transport; else empty as well
  std::uint64_t generation = 0;
};

// Which communicator of an id a rank wants to join. Ranks count their attempts, and ranks with equal counts meet.
struct Attempt {
  std::uint64_t generation = 0;
  // An earlier one failed before the rendezvous answered, so this rank does not know whether the others' failed too.
  // The rendezvous then moves it to the others' generation.
  bool is_unsure = false;
};

struct JoinRequest {
  UniqueId id;
  int rank = 0;
  int num_ranks = 1;
  // join() stores the rank's next attempt there, however it ends. Null: the first attempt, and no other.
  Attempt* attempt = nullptr;
  // Lines of NAME=VALUE that must be the same on all ranks; what is unset has no line. At most 16 KiB.
  std::string configuration{};
  // What keeps this rank from joining, if anything: then join() only tells the others, and nothing above is looked at
  // but who it is.
  Status refusal{};
  // What the user calls this host, where its ranks are to be told from others of the same machine.
  std::string host_id{};
  // Where ranks of other hosts are to reach this one. May be empty: at the address by which it reaches the rendezvous.
  std::function<Result<HostAddresses>()> find_addresses{};
  // How many listeners each address gets. Membership::listeners is this many equal parts, with one listener for each
  // address. If there would be more than kMostAddresses (wire.hpp) listeners, keep_at_most() says which get none.
  int num_listeners_each = 1;
  // When it is this rank's turn among the ranks of its host that take interfaces; nothing: by its place there. The same
  // in splits as in what was split, so that groups of one rank on each host do not all take the first interface.
  std::optional<std::uint32_t> turn{};
  // Opens what ranks of other hosts send to, if listeners are not enough, at `own`, an address of this rank. The
  // result, at most 512 bytes, is what they need to reach it. Called once at most. May be empty.
  std::function<Result<std::string>(const Address& own)> open_transport{};
  // The size of the region, which a host's leader asks for and the others check.
  std::function<Bytes(const std::vector<std::uint32_t>& host_of, int rank)> region_bytes{};
  // What this rank has yet to do with what it holds before the others may count on it; its error reaches all. May be
  // empty.
  std::function<Status(Membership&)> prepare{};
};

// What join() has got behind it. Told to JoinOptions::on_stage, for the log and for tests. A rank whose connection is
// closed before an answer repeats the first two.
enum class JoinStage : std::uint8_t {
  connected,        // to the rendezvous
  hello_sent,       //
  table_received,   // all ranks have arrived and agree
  region_received,  // a leader: made and handed to all of its host
  complete,         // every rank has the region and its links
};

struct JoinOptions {
  // After this time, and then each time it has doubled, a warning says who has not arrived; 0 for never.
  Nanos late_warning{30'000'000'000};
  Nanos timeout{};                               // the error Code::timeout after this time; 0 for none
  std::chrono::milliseconds explanation{500};    // where a rank cannot be reached or all ends, for words on why
  std::function<void(std::string_view)> warn{};  // where warnings go; may be empty
  std::function<void(JoinStage)> on_stage{};     // may be empty
  // Done between sleeps, which are short while it says that there is more to do; may be empty.
  std::function<bool()> meanwhile{};
  // Asked many times a second: an error says that some rank will never come, and why. May be empty.
  std::function<Status()> in_vain{};
};

// An error reaches every rank of the generation and has the same words on each: what differs between which ranks, who
// was lost (Code::rank_lost, and Status::rank() names it), who gave up and why.
[[nodiscard]] Result<Membership> join(const JoinRequest& request, const JoinOptions& options = {});

}  // namespace tutti
