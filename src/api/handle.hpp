// SPDX-License-Identifier: Apache-2.0
// What the files of the C API share: the handle, result codes, and the words of the last error.
#pragma once

#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "base/log.hpp"
#include "base/variables/environment.hpp"
#include "on_fabric/virtual_time.hpp"
#include "recording/recorder.hpp"
#include "runtime/communicator/communicator.hpp"
#include <tutti/tutti.h>

namespace tutti::api {

// What a communicator of the C API has beside it.
struct Surroundings {
  Environment environment;  // that its variables are from
  std::unique_ptr<Log> log;
  std::vector<tuttiStatistic_t> statistics = {};              // as they were last asked for
  std::uint32_t line = 0;                                     // of the communicator, over all splits back: this rank
  std::uint32_t turn = 0;                                     // at its host's interfaces, the same in splits
  std::unique_ptr<Recorder> recorder = {};                    // null: calls are not recorded
  std::unique_ptr<on_fabric::VirtualTime> virtual_time = {};  // null: calls take real time
};

}  // namespace tutti::api

// A handle (48 bytes) stays until the process ends and is never reused. So every later call with the handle of a
// destroyed communicator is refused, whatever has been made since.
struct tuttiComm {
  std::unique_ptr<tutti::api::Surroundings> surroundings;
  std::unique_ptr<tutti::Communicator> communicator;  // null: it was destroyed
  tuttiComm* made_before = nullptr;                   // so that leak checkers find all of them
  // One of the two, while it is live; the first where its calls are not recorded: fast paths ask for that alone. In
  // virtual time neither.
  tutti::Communicator* unrecorded = nullptr;
  tutti::Recorder* recorder = nullptr;
};

namespace tutti::api {

// Takes ownership of both.
[[nodiscard]] tuttiComm_t new_handle(std::unique_ptr<Surroundings> surroundings,
                                     std::unique_ptr<Communicator> communicator);

[[nodiscard]] inline bool is_live(const tuttiComm* comm) { return comm != nullptr && comm->communicator != nullptr; }
// Null: its calls are not recorded.
[[nodiscard]] inline Recorder* recorder_of(const tuttiComm* comm) { return comm->recorder; }
[[nodiscard]] inline Communicator* unrecorded(const tuttiComm* comm) {
  return comm == nullptr ? nullptr : comm->unrecorded;
}
// The error for a handle that is not live.
tuttiResult_t refuse_handle(const tuttiComm* comm) noexcept;

static_assert(static_cast<int>(Type::bf16) == tuttiBfloat16 && static_cast<int>(Type::u16) == tuttiUint16 &&
              kNumTypes == tuttiNumTypes);
static_assert(static_cast<int>(Op::average) == tuttiAvg && static_cast<int>(Op::logical_xor) == tuttiLogicalXor);

// Per thread, as errno is: the words behind the code that the call has returned.
[[nodiscard]] std::string& last_error();

[[nodiscard]] tuttiResult_t result_of(Code code) noexcept;
// The same, and keeps the words of an error.
tuttiResult_t report(const Status& status) noexcept;
tuttiResult_t refuse(const char* words) noexcept;

// Nothing thrown crosses the C boundary; what is thrown here is the lack of memory.
template <typename Body>
tuttiResult_t guarded(const Body& body) noexcept {
  try {
    return body();
  } catch (const std::exception& error) {
    static_cast<void>(error);
    last_error().clear();  // what it says may need memory, and there is none
    return tuttiSystemError;
  } catch (...) {
    last_error().clear();
    return tuttiInternalError;
  }
}

[[nodiscard]] inline Status another_thread() {
  return {Code::invalid_usage, "another thread is in a call of this communicator, which belongs to one at a time"};
}

// Of a call: the thread that is in the communicator, if it has got in.
class Entry {
 public:
  explicit Entry(Communicator& communicator) : communicator_(communicator), is_in_(communicator.enter()) {}
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;
  ~Entry() {
    if (is_in_) communicator_.leave();
  }
  [[nodiscard]] Status status() const { return is_in_ ? Status() : another_thread(); }

 private:
  Communicator& communicator_;
  bool is_in_;
};

// guarded(), and the only call of the communicator, in the process that is its rank.
template <typename Body>
tuttiResult_t within(Communicator& communicator, const Body& body) noexcept {
  return guarded([&]() -> tuttiResult_t {
    const Entry entry(communicator);
    if (const Status status = entry.status(); !status.ok()) return report(status);
    if (!communicator.is_of_this_process()) [[unlikely]]
      return report(communicator.failure());
    communicator.take_over();
    return body();
  });
}
// Also allowed after tuttiCommFinalize.
template <typename Body>
tuttiResult_t within_finalized(tuttiComm_t comm, const Body& body) noexcept {
  return is_live(comm) ? within(*comm->communicator, body) : refuse_handle(comm);
}
template <typename Body>
tuttiResult_t within(tuttiComm_t comm, const Body& body) noexcept {
  return within_finalized(comm, [&]() -> tuttiResult_t {
    const Status status = comm->communicator->check_not_finalized();
    return status.ok() ? body() : report(status);
  });
}

// A table of what ran, where the log is to have it (statistics.cpp).
void log_statistics(const tuttiComm& comm);

// For a call within a group of this thread (group.cpp).
tuttiResult_t begin_in_group(tuttiComm_t comm, Result<Operation*> operation);

[[nodiscard]] inline bool is_type(tuttiDataType_t type) { return static_cast<unsigned>(type) < tuttiNumTypes; }

// What refuse() is to say of a call with it; null where it is right.
[[nodiscard]] inline const char* objection_to(tuttiDataType_t type) {
  return is_type(type) ? nullptr : "datatype is none of tuttiDataType_t's";
}

[[nodiscard]] inline Transfer transfer_of(Transfer::Direction direction, const void* data, std::size_t count,
                                          tuttiDataType_t type, int peer) {
  Transfer transfer;
  transfer.direction = direction;
  transfer.peer = static_cast<std::uint32_t>(peer);
  // Of a send nothing is written there.
  transfer.data = static_cast<std::byte*>(const_cast<void*>(data));
  transfer.count = count;
  transfer.type = static_cast<Type>(type);
  return transfer;
}

}  // namespace tutti::api
