// SPDX-License-Identifier: Apache-2.0
// The MPI that a program has, by the names of its functions alone: handles are numbers in some and pointers in others,
// and either is passed in a register of its own, so one library serves all. docs/decisions/0068 says what that rests
// on.
//
// Nothing here is called before the program's first call of MPI. Thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace tutti::mpi_recorder {

// An argument of a C function of MPI as the caller has passed it. Of one with fewer bits the others mean nothing.
using Word = std::uintptr_t;
// Of a communicator, type or request, in C.
using Handle = std::uintptr_t;

// The same function further on: that of the MPI, or of another tool. Null: there is none.
[[nodiscard]] void* next_function(const char* name);

class Mpi {
 public:
  // Of this process; null where its handles are unknown, which is said once.
  [[nodiscard]] static const Mpi* of_this_process();

  [[nodiscard]] Handle handle(Word word) const { return handle_bytes_ == sizeof(Word) ? word : word & 0xFFFFFFFF; }
  // The one that this pointer is to, in an array.
  [[nodiscard]] Handle handle_at(Word handles, std::size_t number) const;
  enum class Kind : std::uint8_t { communicator, type, request };
  [[nodiscard]] Handle from_fortran(Kind kind, int handle) const;

  struct Membership {
    int rank = 0;
    int ranks = 0;
    int rank_in_world = 0;
  };
  // Whether it is one whose collectives are within one group.
  [[nodiscard]] bool find_membership(Handle communicator, Membership& found) const;
  [[nodiscard]] int size_of_type(Handle type) const;
  // Into `room`; what it has of that.
  [[nodiscard]] std::string_view name_of_type(Handle type, std::span<char> room) const;
  // Whether several threads may call at once.
  [[nodiscard]] bool has_threads() const { return has_threads_; }

 private:
  Mpi() = default;
  [[nodiscard]] bool find_functions();

  std::size_t handle_bytes_ = sizeof(Word);
  Handle world_ = 0;
  bool has_threads_ = false;
  int (*comm_rank_)(Handle, int*) = nullptr;
  int (*comm_size_)(Handle, int*) = nullptr;
  int (*comm_test_inter_)(Handle, int*) = nullptr;
  int (*type_size_)(Handle, int*) = nullptr;
  int (*type_get_name_)(Handle, char*, int*) = nullptr;
  int (*query_thread_)(int*) = nullptr;
  // Of MPIs with pointers.
  Handle (*of_fortran_[3])(int) = {};
};

}  // namespace tutti::mpi_recorder
