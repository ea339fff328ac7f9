// SPDX-License-Identifier: Apache-2.0
// A rank that does all-reduces up to 64 KB and may neither make a system call nor allocate while it does: what
// steady_state_test.cpp starts, by `tutti launch -n 2`. It may be started by hand as well.
//
// After a warm-up the thread that calls installs a seccomp filter, which the kernel enforces for this thread alone: the
// first system call ends the program with a message. Tutti's own watch thread is free of it. malloc and its family are
// counted in the same window. No count and no pointer comes twice: half of the calls have the counts 1 to 8192, the
// other half some above, in scrambled order; in ordinary and in symmetric memory, in place and not, over all types and
// operators.
//
// Arguments, for the test of the test: `--sin syscall` or `--sin allocation` does one in the middle of the window.
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string_view>
#include <thread>
#include <vector>

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tutti/tutti.h>

// --- allocations
// ------------------------------------------------------------------------------------------------------

namespace {
// Of this thread. Replacing malloc leaves no other place for them than the program's thread-local storage.
// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables)
thread_local bool counting = false;
thread_local std::uint64_t num_allocations = 0;
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

void count_allocation() {
  if (counting) ++num_allocations;
}
}  // namespace

#define TUTTI_REPLACES extern "C" __attribute__((visibility("default")))

// glibc's own functions behind those names, exported for this use. All the rest (operator new, strdup, ...) comes here.
// NOLINTBEGIN(readability-identifier-naming,bugprone-reserved-identifier)
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void __libc_free(void*);
}
// NOLINTEND(readability-identifier-naming,bugprone-reserved-identifier)

// The parameters are called as in glibc's declarations.
TUTTI_REPLACES void* malloc(std::size_t size) noexcept {
  count_allocation();
  return __libc_malloc(size);
}
TUTTI_REPLACES void* calloc(std::size_t nmemb, std::size_t size) noexcept {
  count_allocation();
  return __libc_calloc(nmemb, size);
}
TUTTI_REPLACES void* realloc(void* ptr, std::size_t size) noexcept {
  count_allocation();
  return __libc_realloc(ptr, size);
}
TUTTI_REPLACES void* memalign(std::size_t alignment, std::size_t size) noexcept {
  count_allocation();
  return __libc_memalign(alignment, size);
}
TUTTI_REPLACES void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  return memalign(alignment, size);
}
TUTTI_REPLACES int posix_memalign(void** memptr, std::size_t alignment, std::size_t size) noexcept {
  *memptr = memalign(alignment, size);
  return *memptr == nullptr ? ENOMEM : 0;
}
TUTTI_REPLACES void free(void* ptr) noexcept {
  if (ptr != nullptr) count_allocation();
  __libc_free(ptr);
}

namespace {

// --- system calls
// -----------------------------------------------------------------------------------------------------

// A descriptor that nobody else writes to, so that the filter can let the report through and nothing else.
constexpr int kReportFd = 200;
constexpr int kExitSystemCall = 3;

// Runs where the filter has stopped a system call; may itself only write the report and exit.
void on_system_call(int, siginfo_t* info, void*) {
  counting = false;
  std::array<char, 128> text{};
  const int length = std::snprintf(text.data(), text.size(), "system call %d in the steady state\n", info->si_syscall);
  static_cast<void>(!::write(kReportFd, text.data(), static_cast<std::size_t>(length)));
  ::_exit(kExitSystemCall);
}

// From here on this thread makes no system call but those, and the clock's where the kernel has no faster one.
bool forbid_system_calls(bool clock_is_a_system_call) {
  constexpr auto kNumber = static_cast<std::uint32_t>(offsetof(seccomp_data, nr));
  constexpr auto kFirst = static_cast<std::uint32_t>(offsetof(seccomp_data, args));  // its lower half, little-endian
  const auto clock = static_cast<std::uint32_t>(clock_is_a_system_call ? SYS_clock_gettime : SYS_exit_group);
  std::array<sock_filter, 9> program = {{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kNumber),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 5, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, clock, 4, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 0, 2),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kFirst),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kReportFd, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
  }};
  const sock_fprog filter{program.size(), program.data()};
  struct sigaction action {};
  action.sa_sigaction = on_system_call;
  action.sa_flags = SA_SIGINFO;
  if (::sigaction(SIGSYS, &action, nullptr) != 0) return false;
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return false;
  return ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

// How a child of this program ends that does `work` under the filter: 0, or 127 where there is no filter.
template <typename Work>
int outcome_under_filter(const Work& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(kReportFd);  // it keeps what it finds to itself
    if (!forbid_system_calls(false)) ::_exit(127);
    work();
    ::_exit(0);
  }
  int status = 0;
  if (child < 0 || ::waitpid(child, &status, 0) != child || !WIFEXITED(status)) return 127;
  return WEXITSTATUS(status);
}

void read_clock() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
}

// --- the calls
// --------------------------------------------------------------------------------------------------------

constexpr std::size_t kMostBytes = 64 << 10;
constexpr std::size_t kNumCalls = 16 << 10;
constexpr std::size_t kArena = kNumCalls * sizeof(double) + kMostBytes;
constexpr std::array<std::size_t, tuttiNumTypes> kSizes = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1, 2, 2};

[[noreturn]] void end(const char* what, const char* words) {
  std::fprintf(stderr, "steady_state_program: %s: %s\n", what, words);
  ::_exit(1);
}

void must(tuttiResult_t result, const char* what) {
  if (result != tuttiSuccess) end(what, tuttiGetLastError(nullptr));
}

bool is_integer(tuttiDataType_t type) { return type <= tuttiUint64 || type == tuttiInt16 || type == tuttiUint16; }

struct Rank {
  tuttiComm_t comm = nullptr;
  int num_ranks = 0;
  // Two ordinary arenas and two symmetric ones; bytes of 1, which sum to bytes of num_ranks in every integer type.
  std::vector<std::byte> from = std::vector<std::byte>(kArena, std::byte{1});
  std::vector<std::byte> to = std::vector<std::byte>(kArena, std::byte{1});
  std::byte* shared_from = nullptr;
  std::byte* shared_to = nullptr;
  tuttiRedOp_t scaled = tuttiSum;  // of tuttiFloat32
  tuttiRedOp_t own = tuttiSum;     // of tuttiInt32
  std::uint64_t wrong = 0;
};

void add_int32(void* accumulator, const void* next, std::size_t count, void*) {
  auto* sums = static_cast<std::uint32_t*>(accumulator);
  const auto* more = static_cast<const std::uint32_t*>(next);
  for (std::size_t i = 0; i < count; ++i) sums[i] += more[i];
}

struct Call {
  std::size_t count;
  tuttiDataType_t type;
  tuttiRedOp_t op;
  std::size_t offset;  // into the arenas
  bool shared;
  bool in_place;
};

// Large counts (of the smaller types) and those that every type can have, in turn; both scrambled by a multiplier that
// has no factor in common with how many there are, so that none comes twice.
std::size_t count_of(std::size_t number) {
  constexpr std::size_t kMany = kMostBytes / sizeof(double);
  const std::size_t half = number / 2;
  return number % 2 == 0 ? 1 + half * 2731 % kMany : kMany + 1 + half * 40503 % (kMostBytes - kMany);
}

// The same on all ranks.
Call call_of(std::size_t number, const Rank& rank) {
  const std::size_t count = count_of(number);
  std::size_t type = number / 8 % tuttiNumTypes;
  while (count * kSizes[type] > kMostBytes) type = (type + 1) % tuttiNumTypes;
  auto op = static_cast<tuttiRedOp_t>(number / 7 % (is_integer(static_cast<tuttiDataType_t>(type)) ? 11 : 5));
  if (type == tuttiFloat32 && number % 3 == 0) op = rank.scaled;
  if (type == tuttiInt32 && number % 3 == 0) op = rank.own;
  return {count,
          static_cast<tuttiDataType_t>(type),
          op,
          sizeof(double) * (number * 27073 % kNumCalls),
          number / 4 % 2 == 1,
          number / 2 % 2 == 1};
}

tuttiResult_t do_call(Rank& rank, const Call& call) {
  std::byte* from = (call.shared ? rank.shared_from : rank.from.data()) + call.offset;
  std::byte* to = call.in_place ? from : (call.shared ? rank.shared_to : rank.to.data()) + call.offset;
  const std::size_t bytes = call.count * kSizes[call.type];
  const tuttiResult_t result = tuttiAllReduce(from, to, call.count, call.type, call.op, rank.comm);
  const bool sums = is_integer(call.type) && (call.op == tuttiSum || call.op == rank.own);
  const std::byte sum{static_cast<std::uint8_t>(rank.num_ranks)};
  if (sums && (to[0] != sum || to[bytes / 2] != sum || to[bytes - 1] != sum)) ++rank.wrong;
  std::memset(to, 1, bytes);
  return result;
}

// Every type, operator, kind of memory and path once and more, so that what is made at first use is made.
void warm_up(Rank& rank) {
  for (std::size_t number = 0; number < kNumCalls; number += 3) {
    Call call = call_of(number, rank);
    call.offset = 0;
    must(do_call(rank, call), "an all-reduce of the warm-up");
  }
}

enum class Sin { none, system_call, allocation };

void commit(Sin sin) {
  if (sin == Sin::system_call) ::syscall(SYS_getppid);
  if (sin == Sin::allocation) {
    void* volatile memory = std::malloc(1);
    std::free(memory);
  }
}

// The thread that calls. It has no way to end once the filter stands, so it says `done` and waits for the process's
// end.
void steady_state(Rank& rank, Sin sin, bool clock_is_a_system_call, std::atomic<bool>& done) {
  warm_up(rank);
  if (!forbid_system_calls(clock_is_a_system_call)) end("no seccomp filter", std::strerror(errno));
  tuttiResult_t result = tuttiSuccess;
  counting = true;
  for (std::size_t number = 0; number < kNumCalls && result == tuttiSuccess; ++number) {
    result = do_call(rank, call_of(number, rank));
    if (number == kNumCalls / 2) commit(sin);
  }
  counting = false;
  std::array<char, 256> text{};
  const int length = std::snprintf(text.data(), text.size(), "calls %zu result %d wrong %llu allocations %llu\n",
                                   kNumCalls, static_cast<int>(result), static_cast<unsigned long long>(rank.wrong),
                                   static_cast<unsigned long long>(num_allocations));
  static_cast<void>(!::write(kReportFd, text.data(), static_cast<std::size_t>(length)));
  if (result != tuttiSuccess || rank.wrong != 0 || num_allocations != 0) ::_exit(1);
  done.store(true);
  // For good: returning would need the system. A load, as a loop without effects may be taken for one that ends.
  while (done.load()) {
  }
}

Sin read_sin(int argc, char** argv) {
  if (argc == 1) return Sin::none;
  if (argc == 3 && std::string_view(argv[1]) == "--sin") {
    if (std::string_view(argv[2]) == "syscall") return Sin::system_call;
    if (std::string_view(argv[2]) == "allocation") return Sin::allocation;
  }
  end("misused", "it takes nothing, --sin syscall or --sin allocation");
}

void set_up(Rank& rank) {
  must(tuttiCommInitLaunched(&rank.comm), "tuttiCommInitLaunched");
  must(tuttiCommCount(rank.comm, &rank.num_ranks), "tuttiCommCount");
  void* memory = nullptr;
  must(tuttiMemAlloc(&memory, 2 * kArena, rank.comm), "tuttiMemAlloc");
  std::memset(memory, 1, 2 * kArena);
  rank.shared_from = static_cast<std::byte*>(memory);
  rank.shared_to = rank.shared_from + kArena;
  const float half = 0.5F;
  must(tuttiRedOpCreatePreMulSum(&rank.scaled, &half, tuttiFloat32, rank.comm), "tuttiRedOpCreatePreMulSum");
  must(tuttiRedOpCreate(&rank.own, add_int32, nullptr, 1, tuttiInt32, rank.comm), "tuttiRedOpCreate");
}

}  // namespace

int main(int argc, char** argv) {
  const Sin sin = read_sin(argc, argv);
  if (outcome_under_filter([] {}) != 0) {
    std::puts("no seccomp filter is to be had here");
    return 77;
  }
  const bool clock_is_a_system_call = outcome_under_filter(read_clock) != 0;
  if (clock_is_a_system_call) std::puts("reading the clock is a system call here, and let through");
  std::fflush(stdout);
  if (::dup2(STDOUT_FILENO, kReportFd) != kReportFd) end("dup2", std::strerror(errno));
  Rank rank;
  set_up(rank);
  std::atomic<bool> done = false;
  std::thread([&] { steady_state(rank, sin, clock_is_a_system_call, done); }).detach();
  // Rarely, as this thread has the same core as the other.
  while (!done.load()) ::usleep(20'000);
  must(tuttiMemFree(rank.shared_from, rank.comm), "tuttiMemFree");
  must(tuttiCommDestroy(rank.comm), "tuttiCommDestroy");
  ::_exit(0);  // the other thread cannot be joined
}
