// SPDX-License-Identifier: Apache-2.0
#include "api/handle.hpp"

#include <atomic>
#include <utility>

namespace tutti::api {

std::string& last_error() {
  thread_local std::string words;
  return words;
}

tuttiResult_t result_of(Code code) noexcept {
  switch (code) {
    case Code::ok: return tuttiSuccess;
    case Code::invalid_argument: return tuttiInvalidArgument;
    case Code::invalid_usage: return tuttiInvalidUsage;
    case Code::unsupported: return tuttiUnsupported;
    case Code::rank_lost:
    case Code::aborted: return tuttiRemoteError;
    case Code::timeout: return tuttiTimeout;
    case Code::system: return tuttiSystemError;
    case Code::internal: return tuttiInternalError;
  }
  return tuttiInternalError;
}

namespace {

// Words may need memory, and there may be none; then the code says what it can.
template <typename Words>
void keep(const Words& words) noexcept {
  try {
    last_error() = words();
  } catch (...) {
    last_error().clear();
  }
}

// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): see tuttiComm
constinit std::atomic<tuttiComm*> last_made = nullptr;

}  // namespace

tuttiComm_t new_handle(std::unique_ptr<Surroundings> surroundings, std::unique_ptr<Communicator> communicator) {
  auto* const comm = new tuttiComm{std::move(surroundings), std::move(communicator)};
  comm->recorder = comm->surroundings->recorder.get();
  const bool is_plain = comm->recorder == nullptr && comm->surroundings->virtual_time == nullptr;
  if (is_plain) comm->unrecorded = comm->communicator.get();
  comm->made_before = last_made.load(std::memory_order_relaxed);
  while (
      !last_made.compare_exchange_weak(comm->made_before, comm, std::memory_order_release, std::memory_order_relaxed)) {
  }
  return comm;
}

tuttiResult_t refuse_handle(const tuttiComm* comm) noexcept {
  if (comm == nullptr) return refuse("comm is null");
  keep([] { return "comm was destroyed (tuttiCommDestroy)"; });
  return tuttiInvalidUsage;
}

tuttiResult_t report(const Status& status) noexcept {
  if (status.ok()) [[likely]]
    return tuttiSuccess;
  keep([&] { return status.to_string(); });
  return result_of(status.code());
}

tuttiResult_t refuse(const char* words) noexcept {
  keep([words] { return words; });
  return tuttiInvalidArgument;
}

}  // namespace tutti::api
