// SPDX-License-Identifier: Apache-2.0
// What recording calls costs (TUTTI_RECORD): two pinned processes call all-reduces back to back on a communicator, in
// blocks that are recorded and blocks that are not, in turns. Both are the same communicator, whose recording is turned
// off and on behind the back of the API: two communicators differ by more, since their memory lies elsewhere. The ratio
// (recorded/not) is of a block and the next; the median of all pairs of blocks of a communicator is one sample, and the
// mean of the samples is shown with its 95 % interval. The bar: 1.01 at 8 bytes.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api/handle.hpp"
#include <tutti/tutti.h>

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kCommunicators = 16;
constexpr int kBlocks = 150;  // of each, recorded and not
constexpr int kCalls = 1000;  // in a block
constexpr double kBar = 1.01;

struct Size {
  std::size_t bytes;
  bool has_bar;
};
constexpr Size kSizes[] = {{8, true}, {1024, false}, {65536, false}};

struct Shared {
  std::atomic<int> is_ready;
  tuttiUniqueId ids[kCommunicators];
};

[[noreturn]] void fail() {
  fmt::print(stderr, "recording: {}\n", tuttiGetLastError(nullptr));
  std::_Exit(2);
}

tuttiComm_t make(Shared& shared, int number, int rank, const std::string& folder) {
  const std::string variable = "TUTTI_RECORD=" + folder;
  const char* const variables[] = {variable.c_str(), nullptr};
  tuttiConfig_t config = TUTTI_CONFIG_INITIALIZER;
  config.variables = variables;
  tuttiComm_t comm = nullptr;
  if (tuttiCommInitRankConfig(&comm, 2, shared.ids[number], rank, &config) != tuttiSuccess) fail();
  return comm;
}

// Nanoseconds of a call.
double block(tuttiComm_t comm, const float* input, float* output, std::size_t count, int calls) {
  const Clock::time_point start = Clock::now();
  for (int call = 0; call < calls; ++call)
    if (tuttiAllReduce(input, output, count, tuttiFloat32, tuttiSum, comm) != tuttiSuccess) fail();
  const std::chrono::duration<double, std::nano> taken = Clock::now() - start;
  return taken.count() / calls;
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

struct Sample {
  double plain = 0;
  double recorded = 0;
  double ratio = 0;
};

// Whether the next calls are recorded; the communicator has what it takes.
void set_recorded(tuttiComm_t comm, bool is_recorded) {
  comm->unrecorded = is_recorded ? nullptr : comm->communicator.get();
}

Sample compare(tuttiComm_t comm, bool is_null, std::size_t bytes, const float* input, float* output) {
  const std::size_t count = bytes / sizeof(float);
  const int calls = static_cast<int>(std::max<std::size_t>(50, kCalls / (1 + bytes / 2048)));
  std::vector<double> plains, recordeds, ratios;
  for (int number = 0; number < kBlocks; ++number) {
    double times[2];
    // Whichever comes first, in turns.
    for (const int turn : {0, 1}) {
      const bool is_recorded = turn == number % 2;
      set_recorded(comm, is_recorded && !is_null);
      times[is_recorded ? 1 : 0] = block(comm, input, output, count, calls);
    }
    plains.push_back(times[0]);
    recordeds.push_back(times[1]);
    ratios.push_back(times[1] / times[0]);
  }
  return {median(plains), median(recordeds), median(ratios)};
}

bool tell(const Size& size, const std::vector<Sample>& samples) {
  double plain = 0, recorded = 0, sum = 0, squares = 0;
  for (const Sample& each : samples) {
    plain += each.plain;
    recorded += each.recorded;
    sum += each.ratio;
  }
  const auto number = static_cast<double>(samples.size());
  const double mean = sum / number;
  for (const Sample& each : samples) squares += (each.ratio - mean) * (each.ratio - mean);
  constexpr double kStudent = 2.13;  // of 16 samples
  const double half = kStudent * std::sqrt(squares / (number - 1) / number);
  const bool met = !size.has_bar || mean <= kBar;
  fmt::print("{:>6} {:>9.1f} {:>12.1f} {:>7.4f}  [{:.4f}, {:.4f}] {:>5}  {}\n", size.bytes, plain / number,
             recorded / number, mean, mean - half, mean + half, size.has_bar ? fmt::format("{}", kBar) : "-",
             !size.has_bar ? "shown only"
             : met         ? "met"
                           : "missed");
  return met;
}

int run(Shared& shared, int rank, const std::string& folder, bool is_null) {
  cpu_set_t core;
  CPU_ZERO(&core);
  CPU_SET(static_cast<unsigned>(rank), &core);
  sched_setaffinity(0, sizeof core, &core);
  const std::size_t most = 65536;
  auto* input = static_cast<float*>(std::aligned_alloc(4096, most));
  auto* output = static_cast<float*>(std::aligned_alloc(4096, most));
  std::fill_n(input, most / sizeof(float), 1.0F);
  std::vector<std::vector<Sample>> samples(std::size(kSizes));
  for (int number = 0; number < kCommunicators; ++number) {
    tuttiComm_t comm = make(shared, number, rank, folder);
    for (std::size_t size = 0; size < std::size(kSizes); ++size)
      samples[size].push_back(compare(comm, is_null, kSizes[size].bytes, input, output));
    tuttiCommDestroy(comm);
  }
  bool all_met = true;
  if (rank == 0) {
    fmt::print(" bytes  plain_ns  recorded_ns   ratio          interval   bar  verdict\n");
    for (std::size_t size = 0; size < std::size(kSizes); ++size) all_met = tell(kSizes[size], samples[size]) && all_met;
  }
  std::free(input);
  std::free(output);
  return all_met ? 0 : 1;
}

}  // namespace

// With the argument "null" neither is recorded, which shows what the comparison is worth.
int main(int argc, char** argv) {
  void* memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto* shared = static_cast<Shared*>(memory);
  std::string folder = (std::filesystem::temp_directory_path() / "tutti_recording_XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) return 2;
  const bool is_null = argc > 1 && std::string_view(argv[1]) == "null";
  const pid_t child = fork();
  if (child == 0) {
    while (shared->is_ready.load() == 0) usleep(1000);
    // Only rank 0's verdict counts: it alone has the figures that are shown.
    return run(*shared, 1, folder, is_null) == 2 ? 2 : 0;
  }
  for (tuttiUniqueId& id : shared->ids)
    if (tuttiGetUniqueId(&id) != tuttiSuccess) return 2;
  shared->is_ready = 1;
  const int status = run(*shared, 0, folder, is_null);
  waitpid(child, nullptr, 0);
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  fmt::print("recording: {}\n", status == 0 ? "all bars met" : "a bar is missed");
  return status;
}
