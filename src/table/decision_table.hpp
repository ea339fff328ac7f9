// SPDX-License-Identifier: Apache-2.0
// A decision table: what was measured to be fastest, by collective, number of ranks, memory, types and size, with the
// evidence. `tutti tune` writes tables, the runtime obeys them, `tutti export` translates them. Files as
// docs/formats/table.md has them (table_file.hpp). Values; thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/toml/document.hpp"
#include "data/collective.hpp"
#include "data/type.hpp"
#include "schedule/collective.hpp"

namespace tutti {

inline constexpr std::uint32_t kTableVersion = 1;
inline constexpr std::uint64_t kNoEnd = ~std::uint64_t{0};
inline constexpr std::string_view kOwnPeer = "tutti";
// The peer of the harness that measures Tutti on devices. Its tables are Tutti's own, marked as for devices.
inline constexpr std::string_view kDevicePeer = "tutti_device";
// Peers that are simulated fabrics: simulate:torus_2d:8x8. In place of a machine's, their tables have the fabric's
// fingerprint.
inline constexpr std::string_view kFabricPeers = "simulate:";
// A table that any machine obeys.
inline constexpr std::string_view kAnyMachine = "any";

enum class TableMemory : std::uint8_t { ordinary, symmetric };
[[nodiscard]] std::string_view name_of(TableMemory memory);

// Types that are as fast as each other: narrow floats are widened and rounded in each step, all others are bound by
// memory. `any` of a section: whatever the type is.
enum class TypeClass : std::uint8_t { any, plain, narrow };
[[nodiscard]] std::string_view name_of(TypeClass types);
[[nodiscard]] TypeClass class_of(Type type);

// How a call is done, besides its algorithm. What is left open here, the machine profile says.
struct CallTuning {
  enum class Copies : std::uint8_t { by_profile, staged, attached };  // through staging slots; from the peers' memory
  enum class Stores : std::uint8_t { by_profile, cached, streamed };  // outputs that go through or past the caches

  std::optional<std::uint64_t> round;  // bytes of a staging slot that a round uses
  Copies copies = Copies::by_profile;
  Stores stores = Stores::by_profile;

  [[nodiscard]] bool is_empty() const { return *this == CallTuning(); }
  // "round=64K, copies=staged"; empty if everything is left open.
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const CallTuning&, const CallTuning&) = default;
};
[[nodiscard]] std::string_view name_of(CallTuning::Copies copies);
[[nodiscard]] std::string_view name_of(CallTuning::Stores stores);

// A way of doing calls of one collective.
struct TableWay {
  // A full name, "knomial(4)"; of other peers, the name that they have for it; empty: what happens without a table.
  std::string algorithm;
  CallTuning tuning;
  std::vector<std::pair<std::string, std::string>> settings;  // other peers' variables, besides the algorithm

  // "ring", "two_shot [round=64K]", "ring [OMPI_…_segmentsize=65536]", "the default".
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const TableWay&, const TableWay&) = default;
};

// What was measured at one size. Times are medians, in microseconds.
struct TableEvidence {
  std::uint64_t bytes = 0;
  double us = 0;
  double low_us = 0;  // the interval; both 0: there is none
  double high_us = 0;
  std::uint64_t samples = 0;
  std::string runner_up = {};  // the best other way; empty: nothing else was measured
  double margin_percent = 0;   // by how much the runner-up takes longer
};

// Sizes from where the range before ends, up to and including most_bytes.
struct TableRange {
  std::uint64_t most_bytes = kNoEnd;
  TableWay way;
  std::vector<TableEvidence> evidence;
  std::uint32_t line = 0;
};

struct TableSection {
  Collective collective = Collective::all_reduce;
  std::uint32_t ranks = 2;
  TableMemory memory = TableMemory::ordinary;
  TypeClass types = TypeClass::any;
  std::uint32_t hosts = 1;               // that ranks were spread over
  std::optional<OrderClass> order = {};  // all ways keep at least this one; nothing: what the collective asks for
  std::vector<TableRange> ranges;        // in the order of sizes; the last one has no end
  std::uint32_t line = 0;

  [[nodiscard]] const TableRange& range_of(std::uint64_t bytes) const;
};

struct DecisionTable {
  std::string name;
  std::string place;    // the file; empty: it was not read
  std::string about;    // a line
  std::string made;     // 2026-11-25T17:00:00Z
  std::string version;  // of what was measured
  std::string run;      // of the store, where the raw samples are
  std::string peer = std::string(kOwnPeer);
  bool on_devices = false;      // of Tutti: device communicators obey it (TUTTI_DEVICE_TABLE), and no others
  std::string fingerprint;      // of the machine (machine_identity.hpp), or kAnyMachine
  std::string machine;          // the same for people
  std::uint32_t cores = 0;      // that ranks ran on; 0: not known
  std::string profile;          // the machine profile that was in force beneath; empty: any
  document::TomlTable numbers;  // of the profile, which the table overrules: sections of numbers
  std::uint64_t digest = 0;     // of the text
  std::vector<TableSection> sections;

  // How messages call it.
  [[nodiscard]] const std::string& title() const { return place.empty() ? name : place; }
  // As the harness calls whose times are meant: kDevicePeer of Tutti on devices.
  [[nodiscard]] std::string_view measured_peer() const { return on_devices ? kDevicePeer : std::string_view(peer); }
  [[nodiscard]] bool is_of_fabric() const { return peer.starts_with(kFabricPeers); }
  void set_measured_peer(std::string_view measured) {
    on_devices = measured == kDevicePeer;
    peer = on_devices ? kOwnPeer : measured;
  }
};

struct TableQuestion {
  Collective collective = Collective::all_reduce;
  std::uint32_t ranks = 2;
  TableMemory memory = TableMemory::ordinary;
  TypeClass types = TypeClass::plain;
  bool crowded = false;     // more ranks than cores
  std::uint32_t hosts = 1;  // that ranks are spread over
};
struct TableAnswer {
  const TableSection* section = nullptr;
  bool is_exact = true;  // it was measured with these numbers of ranks and hosts
};
// The section for the question: of the same collective and memory, if possible of the same types, and of the number of
// ranks that is nearest (by ratio; of two equally near the smaller). What was measured with a core for each rank says
// nothing of ranks that share cores, and the other way round. The same holds for one host and several. For several
// hosts, the section with the nearest number of hosts comes first. Nothing where no section will do.
[[nodiscard]] std::optional<TableAnswer> find_section(const DecisionTable& table, const TableQuestion& question);

}  // namespace tutti
