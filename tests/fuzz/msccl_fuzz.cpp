// SPDX-License-Identifier: Apache-2.0
// MSCCL programs: any text is read without harm, and what is read is a schedule in good form whose steps can all be
// taken. Whether it does what its collective asks is its author's business.
#include "fuzz.hpp"
#include "schedule/msccl/msccl.hpp"
#include "schedule/prove/prove.hpp"
#include "schedule/prove/well_formed.hpp"

namespace tutti {
namespace {

using fuzz::require;

// Small enough to be proven thousands of times a second.
bool is_small(const Schedule& schedule) {
  std::uint64_t pieces = 0;
  for (const Division& division : schedule.spaces) pieces += std::uint64_t{division.blocks} * division.pieces;
  return pieces * schedule.num_ranks <= 2000 && schedule.num_ranks * schedule.num_lanes <= 100;
}

void check(std::string_view text) {
  const Result<Schedule> schedule = read_msccl(text, "program.xml");
  if (!schedule.ok()) {
    require(!schedule.status().message().empty(), "an error says what is wrong");
    return;
  }
  for (const Fusion fusion : {Fusion::none, Fusion::neighbours}) {
    const Programs programs(schedule.value(), fusion);
    if (fusion == Fusion::none) require(!find_malformed(programs), "what is read is in good form");
  }
  if (!is_small(schedule.value())) return;
  const Proof proof = prove(schedule.value());
  require(proof.ok() || proof.failure->fault != Fault::deadlock, "what is read has been walked to its end");
}

}  // namespace
}  // namespace tutti

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tutti::check(tutti::fuzz::as_text(data, size));
  return 0;
}
