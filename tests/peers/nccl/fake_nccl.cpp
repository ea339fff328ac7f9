// SPDX-License-Identifier: Apache-2.0
// NCCL without devices: collectives of processes of one host through a page that they share, with Tutti's kernels. It
// takes memory of the fake device only, and little of it.
//   FAKE_VERSION   what it says it is; 22809
//   FAKE_FAIL      the name of a function that fails
//   FAKE_WRONG     a rank whose all-reduce is wrong
// Of variables it knows NCCL_ALGO, of which it has all but NVLS, NCCL_PROTO and NCCL_MIN_CTAS, and writes the lines of
// NCCL's log about them.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include "data/kernel.hpp"

#define FAKE extern "C" __attribute__((visibility("default")))

// NOLINTBEGIN(readability-identifier-naming, cppcoreguidelines-avoid-non-const-global-variables): its names are not
// ours, and it is one library in one process.
namespace {

constexpr int kInternalError = 3;
constexpr int kInvalidArgument = 4;
constexpr int kInvalidUsage = 5;
constexpr int kMostRanks = 8;
constexpr std::size_t kSlot = std::size_t{1} << 20;
constexpr std::uintptr_t kBegin = std::uintptr_t{1} << 45;

struct Page {
  std::atomic<int> arrived;
  std::atomic<int> generation;
  std::byte slots[kMostRanks][kSlot];
};

struct Comm {
  Page* page = nullptr;
  int rank = 0;
  int num_ranks = 1;
  std::vector<std::function<void()>> sends;
  std::vector<std::function<void()>> receives;
};

Comm* grouped = nullptr;
int depth = 0;
std::string last_error;

int fail(int result, const std::string& words) {
  last_error = words;
  return result;
}

bool must_fail(const char* name) {
  const char* failing = std::getenv("FAKE_FAIL");
  return failing != nullptr && std::string(failing) == name;
}

void meet(const Comm& comm) {
  Page& page = *comm.page;
  const int generation = page.generation.load();
  if (page.arrived.fetch_add(1) + 1 == comm.num_ranks) {
    page.arrived.store(0);
    page.generation.fetch_add(1);
    return;
  }
  while (page.generation.load() == generation) ::sched_yield();
}

std::size_t size_of(int type) { return tutti::size_of(static_cast<tutti::Type>(type)); }

int refused(const char* name, const void* input, const void* output, std::size_t bytes) {
  if (must_fail(name)) return fail(kInternalError, "told to fail");
  const auto on_device = [](const void* memory) { return (reinterpret_cast<std::uintptr_t>(memory) >> 45) == 1; };
  static_assert(kBegin >> 45 == 1);
  if (!on_device(input) || !on_device(output)) return fail(kInvalidArgument, "that is no device memory");
  if (bytes > kSlot) return fail(kInvalidArgument, "the fake has no room for that");
  const char* algorithm = std::getenv("NCCL_ALGO");
  if (algorithm != nullptr && std::string(algorithm) == "NVLS")
    return fail(kInvalidUsage, "no algorithm/protocol available");
  return 0;
}

std::byte* slot(const Comm& comm, int rank) { return comm.page->slots[rank]; }

// Everybody's input is there when `take` runs, and nobody's is overwritten before all have done so.
template <typename Take>
int exchange(Comm& comm, const void* input, std::size_t bytes, Take take) {
  std::memcpy(slot(comm, comm.rank), input, bytes);
  meet(comm);
  take();
  meet(comm);
  return 0;
}

void fold(const Comm& comm, void* output, std::size_t offset, std::size_t count, int type, int op) {
  std::vector<const void*> sources;
  sources.reserve(static_cast<std::size_t>(comm.num_ranks));
  for (int rank = 0; rank < comm.num_ranks; ++rank) sources.push_back(slot(comm, rank) + offset);
  const tutti::Operator folding = {.op = static_cast<tutti::Op>(op),
                                   .type = static_cast<tutti::Type>(type),
                                   .divisor = static_cast<std::uint64_t>(comm.num_ranks)};
  tutti::reduce_kernel(folding.type, folding.op, false)(folding, {.destinations = &output,
                                                                  .num_destinations = 1,
                                                                  .sources = sources.data(),
                                                                  .num_sources = static_cast<unsigned>(comm.num_ranks),
                                                                  .count = count,
                                                                  .final = true});
}

void tell_variables() {
  const char* path = std::getenv("NCCL_DEBUG_FILE");
  std::FILE* log = path != nullptr ? std::fopen(path, "w") : nullptr;
  if (log == nullptr) return;
  for (const char* name : {"NCCL_ALGO", "NCCL_PROTO"})
    if (const char* value = std::getenv(name))
      std::fprintf(log, "host:1:1 [0] NCCL INFO %s set by environment to %s\n", name, value);
  if (const char* value = std::getenv("NCCL_MIN_CTAS"))
    std::fprintf(log, "host:1:1 [0] NCCL INFO NCCL_MIN_CTAS set by environment to %lld.\n",
                 std::strtoll(value, nullptr, 0));
  std::fclose(log);
}

struct UniqueId {
  char internal[128];
};

}  // namespace

FAKE int ncclGetVersion(int* version) {
  const char* number = std::getenv("FAKE_VERSION");
  *version = number != nullptr ? std::atoi(number) : 22809;
  return 0;
}
FAKE const char* ncclGetErrorString(int result) { return result == kInvalidUsage ? "invalid usage" : "error"; }
FAKE const char* ncclGetLastError(void*) { return last_error.c_str(); }

FAKE int ncclGetUniqueId(UniqueId* id) {
  if (must_fail("ncclGetUniqueId")) return fail(kInternalError, "told to fail");
  std::memset(id->internal, 0, sizeof(id->internal));
  std::snprintf(id->internal, sizeof(id->internal), "/tutti-fake-nccl-%d", ::getpid());
  const int file = ::shm_open(id->internal, O_RDWR | O_CREAT | O_EXCL, 0600);
  const int sized = ::ftruncate(file, sizeof(Page));
  ::close(file);
  return sized == 0 ? 0 : kInternalError;
}

FAKE int ncclCommInitRank(void** made, int num_ranks, UniqueId id, int rank) {
  if (must_fail("ncclCommInitRank") || num_ranks > kMostRanks) {
    ::shm_unlink(id.internal);
    return fail(kInternalError, "told to fail");
  }
  tell_variables();
  const int file = ::shm_open(id.internal, O_RDWR, 0);
  void* page = ::mmap(nullptr, sizeof(Page), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ::close(file);
  if (page == MAP_FAILED) return kInternalError;
  Comm* comm = new Comm{static_cast<Page*>(page), rank, num_ranks, {}, {}};
  meet(*comm);
  if (rank == 0) ::shm_unlink(id.internal);
  *made = comm;
  return 0;
}
FAKE int ncclCommDestroy(void* comm) {
  delete static_cast<Comm*>(comm);
  return 0;
}
FAKE int ncclCommCount(void* comm, int* count) {
  *count = static_cast<Comm*>(comm)->num_ranks;
  return 0;
}
FAKE int ncclCommUserRank(void* comm, int* rank) {
  *rank = static_cast<Comm*>(comm)->rank;
  return 0;
}

FAKE int ncclAllReduce(const void* input, void* output, std::size_t count, int type, int op, void* of, void*) {
  Comm& comm = *static_cast<Comm*>(of);
  const std::size_t bytes = count * size_of(type);
  if (const int no = refused("ncclAllReduce", input, output, bytes)) return no;
  return exchange(comm, input, bytes, [&] {
    fold(comm, output, 0, count, type, op);
    const char* wrong = std::getenv("FAKE_WRONG");
    if (wrong != nullptr && std::atoi(wrong) == comm.rank) *static_cast<unsigned char*>(output) ^= 1;
  });
}
FAKE int ncclAllGather(const void* input, void* output, std::size_t count, int type, void* of, void*) {
  Comm& comm = *static_cast<Comm*>(of);
  const std::size_t bytes = count * size_of(type);
  if (const int no = refused("ncclAllGather", input, output, bytes)) return no;
  return exchange(comm, input, bytes, [&] {
    for (int rank = 0; rank < comm.num_ranks; ++rank)
      std::memcpy(static_cast<std::byte*>(output) + static_cast<std::size_t>(rank) * bytes, slot(comm, rank), bytes);
  });
}
FAKE int ncclReduceScatter(const void* input, void* output, std::size_t count, int type, int op, void* of, void*) {
  Comm& comm = *static_cast<Comm*>(of);
  const std::size_t bytes = count * size_of(type);
  if (const int no = refused("ncclReduceScatter", input, output, bytes * static_cast<std::size_t>(comm.num_ranks)))
    return no;
  return exchange(comm, input, bytes * static_cast<std::size_t>(comm.num_ranks),
                  [&] { fold(comm, output, static_cast<std::size_t>(comm.rank) * bytes, count, type, op); });
}
FAKE int ncclBroadcast(const void* input, void* output, std::size_t count, int type, int root, void* of, void*) {
  Comm& comm = *static_cast<Comm*>(of);
  const std::size_t bytes = count * size_of(type);
  if (const int no = refused("ncclBroadcast", input, output, bytes)) return no;
  return exchange(comm, input, bytes, [&] { std::memcpy(output, slot(comm, root), bytes); });
}
FAKE int ncclReduce(const void* input, void* output, std::size_t count, int type, int op, int root, void* of, void*) {
  Comm& comm = *static_cast<Comm*>(of);
  if (const int no = refused("ncclReduce", input, output, count * size_of(type))) return no;
  return exchange(comm, input, count * size_of(type), [&] {
    if (comm.rank == root) fold(comm, output, 0, count, type, op);
  });
}

FAKE int ncclGroupStart() {
  ++depth;
  return 0;
}
FAKE int ncclSend(const void* input, std::size_t count, int type, int to, void* of, void*) {
  const std::size_t bytes = count * size_of(type);
  if (const int no = refused("ncclSend", input, input, bytes * kMostRanks)) return no;
  if (depth == 0) return fail(kInvalidUsage, "the fake sends in groups only");
  grouped = static_cast<Comm*>(of);
  grouped->sends.emplace_back([=, comm = grouped] {
    std::memcpy(slot(*comm, comm->rank) + static_cast<std::size_t>(to) * bytes, input, bytes);
  });
  return 0;
}
FAKE int ncclRecv(void* output, std::size_t count, int type, int from, void* of, void*) {
  const std::size_t bytes = count * size_of(type);
  if (const int no = refused("ncclRecv", output, output, bytes * kMostRanks)) return no;
  grouped = static_cast<Comm*>(of);
  grouped->receives.emplace_back([=, comm = grouped] {
    std::memcpy(output, slot(*comm, from) + static_cast<std::size_t>(comm->rank) * bytes, bytes);
  });
  return 0;
}
FAKE int ncclGroupEnd() {
  if (--depth > 0 || grouped == nullptr) return 0;
  for (const auto& send : grouped->sends) send();
  meet(*grouped);
  for (const auto& receive : grouped->receives) receive();
  meet(*grouped);
  grouped->sends.clear();
  grouped->receives.clear();
  grouped = nullptr;
  return 0;
}
// NOLINTEND(readability-identifier-naming, cppcoreguidelines-avoid-non-const-global-variables)
