// SPDX-License-Identifier: Apache-2.0
#include "peers/tutti/library.hpp"

#include <memory>

#include <fmt/format.h>

#include "base/text.hpp"
#include "peers/meeting.hpp"

namespace tutti::peers {

Result<bool> wants_symmetric(const Environment& environment) {
  const std::string word = environment.lookup(kMemoryVariable).value_or("ordinary");
  if (same_name(word, "symmetric")) return true;
  if (same_name(word, "ordinary")) return false;
  return Status(Code::invalid_argument,
                fmt::format("{} is {}; it takes ordinary or symmetric", kMemoryVariable, in_quotes(word)));
}

Status status_of(const char* call, tuttiResult_t result, tuttiComm_t comm) {
  if (result == tuttiSuccess) return {};
  return {Code::system, fmt::format("{}: {}: {}", call, tuttiGetErrorString(result), tuttiGetLastError(comm))};
}

std::string tutti_version() {
  int version = 0;
  tuttiGetVersion(&version);
  return fmt::format("Tutti {}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

Result<tuttiComm_t> meet_on_this_host(const Environment& environment, int rank, int num_ranks) {
  TUTTI_TRY_ASSIGN(std::unique_ptr<Meeting> meeting, Meeting::join(environment, rank));
  tuttiUniqueId id{};
  const std::string key = "unique id";
  if (rank == 0) {
    TUTTI_TRY(status_of("tuttiGetUniqueId", tuttiGetUniqueId(&id), nullptr));
    TUTTI_TRY(meeting->put(key, {id.internal, sizeof(id.internal)}));
  }
  TUTTI_TRY_ASSIGN(const std::string told, meeting->get(key));
  if (told.size() != sizeof(id.internal)) return Status(Code::internal, "rank 0 told an id of another length");
  told.copy(id.internal, sizeof(id.internal));
  tuttiComm_t comm = nullptr;
  TUTTI_TRY(status_of("tuttiCommInitRank", tuttiCommInitRank(&comm, num_ranks, id, rank), nullptr));
  return comm;
}

bool forces(const harness::Setting& setting) { return setting.value && !same_name(*setting.value, "auto"); }

}  // namespace tutti::peers
