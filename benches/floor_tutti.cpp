// SPDX-License-Identifier: Apache-2.0
// Times Tutti's all-reduce exactly as the floor programs (two_ranks.cpp, four_ranks.cpp) time themselves: forked
// ranks, pinned, back to back, each call between two clock readings on rank 0, the median of as many calls. Prints
// `path bytes median_us`, a line each. floor.cpp runs it in turn with them.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tutti/tutti.h>

namespace {

using Clock = std::chrono::steady_clock;

void require(tuttiResult_t result, const char* what) {
  if (result == tuttiSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, tuttiGetLastError(nullptr));
  std::_Exit(1);
}

void pin_to(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<unsigned>(core), &set);
  sched_setaffinity(0, sizeof set, &set);
}

struct Measurement {
  const char* path;
  std::size_t bytes;
  int calls;
};

void measure(const Measurement& what, const float* input, float* output, int rank, int num_ranks, tuttiComm_t comm) {
  std::vector<double> times(static_cast<std::size_t>(what.calls));
  for (double& time : times) {
    const Clock::time_point start = Clock::now();
    const tuttiResult_t result =
        tuttiAllReduce(input, output, what.bytes / sizeof(float), tuttiFloat32, tuttiSum, comm);
    time = std::chrono::duration<double, std::micro>(Clock::now() - start).count();
    require(result, "all-reduce");
  }
  const float expected = static_cast<float>(num_ranks * (num_ranks + 1)) / 2;
  for (std::size_t i = 0; i < what.bytes / sizeof(float); ++i)
    if (output[i] != expected) {
      std::fprintf(stderr, "%s %zu: element %zu is %g, not %g\n", what.path, what.bytes, i,
                   static_cast<double>(output[i]), static_cast<double>(expected));
      std::_Exit(1);
    }
  std::sort(times.begin(), times.end());
  double mean = 0;
  for (const double time : times) mean += time / what.calls;
  if (rank == 0) std::printf("%s %zu %.4f %.4f\n", what.path, what.bytes, times[times.size() / 2], mean);
  std::fflush(stdout);
}

void run(int rank, int num_ranks, const tuttiUniqueId& id) {
  pin_to(rank % 2);
  tuttiComm_t comm = nullptr;
  require(tuttiCommInitRank(&comm, num_ranks, id, rank), "start");
  constexpr std::size_t kMost = std::size_t{64} << 20;
  constexpr std::size_t kElements = kMost / sizeof(float);
  constexpr std::size_t kLarge[] = {262144, 2097152, 16777216, 67108864};
  const auto calls_for = [](std::size_t bytes) { return bytes < 4'000'000 ? 300 : 12; };
  auto* input = static_cast<float*>(std::aligned_alloc(4096, kMost));
  auto* output = static_cast<float*>(std::aligned_alloc(4096, kMost));
  std::fill_n(input, kElements, static_cast<float>(rank + 1));
  std::fill_n(output, kElements, 0.0F);
  for (std::size_t bytes = 8; bytes <= 65536; bytes *= 8)
    measure({"oneshot", bytes, num_ranks == 2 ? 20000 : 5000}, input, output, rank, num_ranks, comm);
  if (num_ranks == 2) {
    for (const std::size_t bytes : kLarge)
      measure({"staged", bytes, calls_for(bytes)}, input, output, rank, num_ranks, comm);
    void* symmetric = nullptr;
    require(tuttiMemAlloc(&symmetric, 2 * kMost, comm), "symmetric memory");
    auto* shared = static_cast<float*>(symmetric);
    std::fill_n(shared, kElements, static_cast<float>(rank + 1));
    std::fill_n(shared + kElements, kElements, 0.0F);
    for (const std::size_t bytes : kLarge)
      measure({"symm", bytes, calls_for(bytes)}, shared, shared + kElements, rank, num_ranks, comm);
    require(tuttiMemFree(symmetric, comm), "symmetric memory");
  }
  tuttiCommDestroy(comm);
  std::free(input);
  std::free(output);
}

}  // namespace

int main(int argc, char** argv) {
  const int num_ranks = argc == 2 ? std::atoi(argv[1]) : 0;
  if (num_ranks < 2) {
    std::fprintf(stderr, "usage: %s RANKS, at least 2\n", argv[0]);
    return 2;
  }
  // The id's server must live in one process, and its thread must not be forked: the ranks wait for it in shared
  // memory.
  void* memory = mmap(nullptr, sizeof(tuttiUniqueId) + 1, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto* id = static_cast<tuttiUniqueId*>(memory);
  auto* ready = static_cast<volatile char*>(memory) + sizeof(tuttiUniqueId);
  int rank = 0;
  for (int each = 1; each < num_ranks; ++each)
    if (fork() == 0) {
      rank = each;
      break;
    }
  if (rank == 0) {
    require(tuttiGetUniqueId(id), "id");
    *ready = 1;
  }
  while (*ready == 0) usleep(1000);
  run(rank, num_ranks, *id);
  int failed = 0;
  for (int status = 0; rank == 0 && wait(&status) > 0;) failed |= status;
  return failed == 0 ? 0 : 1;
}
