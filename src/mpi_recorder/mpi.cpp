// SPDX-License-Identifier: Apache-2.0
#include "mpi_recorder/mpi.hpp"

#include <cstdio>
#include <string>
#include <vector>

#include <dlfcn.h>
#include <link.h>

#include "mpi_recorder/communicators.hpp"

namespace tutti::mpi_recorder {

namespace {

constexpr Handle kWorldOfMpich = 0x44000000;
constexpr int kThreadMultiple = 3;
constexpr std::size_t kMostName = 8192;  // of a library's description of itself, in any MPI

// RTLD_NEXT finds nothing in a library that was opened with RTLD_LOCAL, as interpreters open modules.
void* find_in_any_library(const char* name) {
  std::vector<std::string> paths;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* all) {
        const std::string_view path = info->dlpi_name == nullptr ? "" : info->dlpi_name;
        const std::string_view file = path.substr(path.rfind('/') + 1);
        if (file.find("mpi") != std::string_view::npos && file.find("tutti-mpi-recorder") == std::string_view::npos)
          static_cast<std::vector<std::string>*>(all)->emplace_back(path);
        return 0;
      },
      &paths);
  for (const std::string& path : paths) {
    void* const library = dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
    if (library == nullptr) continue;
    void* const found = dlsym(library, name);
    dlclose(library);
    if (found != nullptr) return found;
  }
  return nullptr;
}

// An attribute of every communicator that is recorded: duplicates do not have it, and MPI deletes it at the end.
int leave_out(Handle, int, void*, void*, void*, int* is_copied) {
  *is_copied = 0;
  return 0;
}
int note_end(Handle communicator, int, void*, void*) {
  if (const Mpi* const mpi = Mpi::of_this_process()) forget(*mpi, mpi->handle(communicator));
  return 0;
}

template <typename Function>
bool find(const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(next_function(name));
  return function != nullptr;
}

// A variable, which may lie in the program in place of the library that has it.
void* object(const char* name) {
  void* const found = dlsym(RTLD_DEFAULT, name);
  return found != nullptr ? found : find_in_any_library(name);
}

std::string description_of_library() {
  int (*get)(char*, int*) = nullptr;
  if (!find("MPI_Get_library_version", get)) return {};
  std::vector<char> text(kMostName + 1);
  int length = 0;
  if (get(text.data(), &length) != 0) return {};
  return text.data();
}

}  // namespace

void* next_function(const char* name) {
  void* const next = dlsym(RTLD_NEXT, name);
  return next != nullptr ? next : find_in_any_library(name);
}

const Mpi* Mpi::of_this_process() {
  static const Mpi* const mpi = [] {
    static Mpi found;
    if (found.find_functions()) return &found;
    std::fprintf(stderr, "tutti: the calls of this MPI are not recorded: %s\n",
                 "it is neither Open MPI nor one with MPICH's binary interface");
    return static_cast<Mpi*>(nullptr);
  }();
  return mpi;
}

bool Mpi::find_functions() {
  const std::string library = description_of_library();
  if (void* const world = object("ompi_mpi_comm_world"); world != nullptr) {
    name_ = "openmpi";
    world_ = reinterpret_cast<Handle>(world);
    if (!find("MPI_Comm_f2c", of_fortran_[0]) || !find("MPI_Type_f2c", of_fortran_[1]) ||
        !find("MPI_Request_f2c", of_fortran_[2]))
      return false;
  } else if (library.find("MPICH") != std::string::npos || library.find("MVAPICH") != std::string::npos ||
             library.find("Intel(R) MPI") != std::string::npos) {
    if (library.starts_with("MPICH")) name_ = "mpich";
    handle_bytes_ = sizeof(int);
    world_ = kWorldOfMpich;
  } else {
    return false;
  }
  if (find("PMPI_Query_thread", query_thread_)) {
    int level = kThreadMultiple;
    has_threads_ = query_thread_(&level) != 0 || level >= kThreadMultiple;
  }
  return find("PMPI_Comm_create_keyval", create_keyval_) && find("PMPI_Comm_set_attr", set_attribute_) &&
         create_keyval_(leave_out, note_end, &keyval_, nullptr) == 0 && find("PMPI_Initialized", initialized_) &&
         find("PMPI_Comm_rank", comm_rank_) && find("PMPI_Comm_size", comm_size_) &&
         find("PMPI_Comm_test_inter", comm_test_inter_) && find("PMPI_Type_size_x", type_size_x_) &&
         find("PMPI_Type_get_name", type_get_name_);
}

Handle Mpi::handle_at(Word handles, std::size_t number) const {
  Handle handle = 0;
  if (handle_bytes_ == sizeof(int)) {
    handle = static_cast<std::uint32_t>(reinterpret_cast<const int*>(handles)[number]);
  } else {
    handle = reinterpret_cast<const Handle*>(handles)[number];
  }
  return handle;
}

Handle Mpi::from_fortran(HandleKind kind, int handle) const {
  const auto convert = of_fortran_[static_cast<std::size_t>(kind)];
  return convert == nullptr ? static_cast<std::uint32_t>(handle) : convert(handle);
}

bool Mpi::find_membership(Handle communicator, Membership& found) const {
  int has_world = 0;
  int is_inter = 0;
  return initialized_(&has_world) == 0 && has_world != 0 && comm_test_inter_(communicator, &is_inter) == 0 &&
         is_inter == 0 && comm_rank_(communicator, &found.rank) == 0 && comm_size_(communicator, &found.ranks) == 0 &&
         comm_rank_(world_, &found.rank_in_world) == 0;
}

bool Mpi::watch_end_of(Handle communicator) const { return set_attribute_(communicator, keyval_, nullptr) == 0; }

std::uint64_t Mpi::size_of_type(Handle type) const {
  std::int64_t bytes = 0;
  return type_size_x_(type, &bytes) == 0 && bytes > 0 ? static_cast<std::uint64_t>(bytes) : 0;
}

std::string_view Mpi::name_of_type(Handle type, std::span<char> room) const {
  int length = 0;
  if (type_get_name_(type, room.data(), &length) != 0 || length < 0) return {};
  return {room.data(), static_cast<std::size_t>(length)};
}

}  // namespace tutti::mpi_recorder
