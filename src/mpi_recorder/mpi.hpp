// SPDX-License-Identifier: Apache-2.0
// The program's MPI, known by the names of its functions alone. Handles are numbers in some MPIs and pointers in
// others. Either fits a register, so one library serves all (docs/decisions/0068).
//
// Nothing here is called before the program's first call of MPI. Thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace tutti::mpi_recorder {

// An argument of a C function of MPI as the caller has passed it. If it is narrower, the upper bits mean nothing.
using Word = std::uintptr_t;
// Of a communicator, type or request, in C.
using Handle = std::uintptr_t;

// The next function of that name: the MPI's, or another tool's. Null: there is none.
[[nodiscard]] void* next_function(const char* name);

class Mpi {
 public:
  // Of this process; null where its handles are unknown, which is said once.
  [[nodiscard]] static const Mpi* of_this_process();

  // "openmpi" or "mpich", as Tutti calls these peers; of others "mpi".
  [[nodiscard]] const char* name() const { return name_; }

  [[nodiscard]] Handle handle(Word word) const { return handle_bytes_ == sizeof(Word) ? word : word & 0xFFFFFFFF; }
  // The one that this pointer is to, in an array.
  [[nodiscard]] Handle handle_at(Word handles, std::size_t number) const;
  enum class HandleKind : std::uint8_t { communicator, type, request };
  [[nodiscard]] Handle from_fortran(HandleKind kind, int handle) const;

  struct Membership {
    int rank = 0;
    int ranks = 0;
    int rank_in_world = 0;
  };
  // False of an intercommunicator, and in a program that has sessions in place of a world.
  [[nodiscard]] bool find_membership(Handle communicator, Membership& found) const;
  // Has `forget` (communicators.hpp) called when it ends, however that comes about. Whether it could.
  [[nodiscard]] bool watch_end_of(Handle communicator) const;
  [[nodiscard]] std::uint64_t size_of_type(Handle type) const;
  // Stored in `room`; empty on an error.
  [[nodiscard]] std::string_view name_of_type(Handle type, std::span<char> room) const;
  // Whether several threads may call at once.
  [[nodiscard]] bool has_threads() const { return has_threads_; }

 private:
  Mpi() = default;
  [[nodiscard]] bool find_functions();

  const char* name_ = "mpi";
  std::size_t handle_bytes_ = sizeof(Word);
  Handle world_ = 0;
  bool has_threads_ = false;
  int (*initialized_)(int*) = nullptr;
  int (*create_keyval_)(int (*)(Handle, int, void*, void*, void*, int*), int (*)(Handle, int, void*, void*), int*,
                        void*) = nullptr;
  int (*set_attribute_)(Handle, int, void*) = nullptr;
  int keyval_ = 0;
  int (*comm_rank_)(Handle, int*) = nullptr;
  int (*comm_size_)(Handle, int*) = nullptr;
  int (*comm_test_inter_)(Handle, int*) = nullptr;
  int (*type_size_x_)(Handle, std::int64_t*) = nullptr;
  int (*type_get_name_)(Handle, char*, int*) = nullptr;
  int (*query_thread_)(int*) = nullptr;
  // Of MPIs with pointers.
  Handle (*of_fortran_[3])(int) = {};
};

}  // namespace tutti::mpi_recorder
