// SPDX-License-Identifier: Apache-2.0
// prove: shows that a schedule does what its collective defines, or tells the shortest story of how it does not.
// docs/design/schedule.md says what is proven, why one walk of it decides, and what is left out.
//
// Pure; thread-safe. A 512-rank ring takes seconds and a few hundred megabytes for as long as the call lasts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "schedule/prove/failure.hpp"
#include "schedule/schedule.hpp"

namespace tutti {

// What exposing may be, for the buffers out of place or in place.
enum class Exposure : std::uint8_t {
  none,       // nothing is exposed
  copy_only,  // right where exposing copies to a staging slot; by name it is not
  name_safe,  // right by name as well
};

[[nodiscard]] std::string_view name_of(Exposure exposure);

struct ExposureProof {
  Exposure exposure = Exposure::none;
  std::optional<Failure> why_copy_only;
};

struct Proof {
  std::optional<Failure> failure;       // what follows means something only where there is none
  OrderClass order = OrderClass::free;  // the strictest class that every result keeps
  std::string why_not_stricter;         // the first result that keeps no stricter one; empty for ordered
  bool has_messages = false;
  std::uint32_t least_depth = 0;        // messages in flight that each connection needs: as written,
  std::uint32_t least_depth_fused = 0;  // and with neighbours fused; 0 is rendezvous
  std::uint32_t least_slots = 0;        // staging slots that each rank needs
  ExposureProof out_of_place;
  ExposureProof in_place;
  std::uint32_t roundings = 0;  // on the deepest path from an input to a result, fused

  [[nodiscard]] bool ok() const { return !failure.has_value(); }
};

[[nodiscard]] Proof prove(const Schedule& schedule);

}  // namespace tutti
