// Ranks that are killed at random moments of their life: while the ranks meet, and in the middle of calls of all sizes.
// Each of the others returns an error that names the rank within a second, says the same from then on, and nothing is
// left behind. Only the C API is used by the ranks.
//
// KILLS sets how often (100), KILL_SEED begins another series; a failure prints both.
#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/rendezvous.hpp"
#include <tutti/tutti.h>

namespace tutti {
namespace {

using Clock = std::chrono::steady_clock;
using Microseconds = std::chrono::microseconds;

constexpr int kRanks = 4;
constexpr std::size_t kMostBytes = 1 << 20;
constexpr std::size_t kMostWords = 400;

// What a rank tells the test, in memory that both share, so that telling takes no time and outlives it.
struct Told {
  std::atomic<int> first_calls = 0;  // 1 once it is in the midst of its calls
  std::atomic<int> finished = 0;     // 1 once all below is written
  tuttiResult_t result = tuttiSuccess;
  Clock::time_point when;
  std::array<char, kMostWords> words{};
  bool in_init = false;
  bool stays_the_same = false;
};

struct Shared {
  std::atomic<int> go = 0;                  // the ranks up to but not including the last may join
  std::atomic<int> last_goes = 0;           // and the last one too
  std::array<char, UniqueId::kBytes> id{};  // valid once `go` is set
  std::array<Told, kRanks> told;
};

// --- a rank
// -----------------------------------------------------------------------------------------------------------

void wait_for(const std::atomic<int>& flag) {
  while (flag.load() == 0) std::this_thread::sleep_for(Microseconds(50));
}

// Small, staged, long staged, ring and symmetric calls, in an order of the round's own, until one fails.
tuttiResult_t call_until_failure(tuttiComm_t comm, unsigned seed, Told& told) {
  void* shared = nullptr;
  if (const tuttiResult_t result = tuttiMemAlloc(&shared, 2 * kMostBytes, comm); result != tuttiSuccess) return result;
  auto* symmetric = static_cast<std::byte*>(shared);
  std::vector<std::byte> memory(2 * kMostBytes);
  std::minstd_rand random(seed);  // the same on all ranks
  for (int calls = 0;; ++calls) {
    constexpr auto kSizes = std::to_array<std::size_t>({8, 8, 500, 4096, 30'000, 200'000, kMostBytes});
    std::byte* from = random() % 3 == 0 ? symmetric : memory.data();
    const std::size_t bytes = kSizes[random() % kSizes.size()];
    const tuttiResult_t result =
        tuttiAllReduce(from, from + kMostBytes, bytes / sizeof(float), tuttiFloat32, tuttiSum, comm);
    if (result != tuttiSuccess) return result;
    if (calls == 8) told.first_calls.store(1);
  }
}

// Whatever is called now says what the first error said.
bool stays_the_same(tuttiComm_t comm, const Told& told) {
  for (int repeat = 0; repeat < 3; ++repeat) {
    std::array<float, 2> value{};
    void* memory = nullptr;
    tuttiResult_t async_error = tuttiSuccess;
    const auto same = [&](tuttiResult_t result) {
      return result == told.result && std::string(tuttiGetLastError(comm)) == told.words.data();
    };
    if (!same(tuttiAllReduce(value.data(), value.data(), 2, tuttiFloat32, tuttiMax, comm))) return false;
    if (!same(tuttiMemAlloc(&memory, 4096, comm))) return false;
    if (tuttiCommGetAsyncError(comm, &async_error) != tuttiSuccess || async_error != told.result) return false;
  }
  return true;
}

[[noreturn]] void be_rank(Shared& shared, int rank, bool is_last, unsigned seed) {
  Told& told = shared.told[static_cast<std::size_t>(rank)];
  wait_for(is_last ? shared.last_goes : shared.go);
  tuttiUniqueId id;
  std::copy(shared.id.begin(), shared.id.end(), id.internal);
  tuttiComm_t comm = nullptr;
  told.result = tuttiCommInitRank(&comm, kRanks, id, rank);
  told.in_init = told.result != tuttiSuccess;
  if (!told.in_init) told.result = call_until_failure(comm, seed, told);
  told.when = Clock::now();
  const std::string words = tuttiGetLastError(comm);
  words.copy(told.words.data(), kMostWords - 1);
  told.stays_the_same = told.in_init ? comm == nullptr : stays_the_same(comm, told);
  tuttiCommDestroy(comm);
  told.finished.store(1);
  _exit(0);
}

// --- what must not be left
// --------------------------------------------------------------------------------------------

// What Tutti could leave on the machine, as far as it bears its name.
std::set<std::string> traces() {
  std::set<std::string> found;
  const auto add = [&found](const std::string& text) {
    if (text.find("tutti") != std::string::npos) found.insert(text);
  };
  for (const char* folder : {"/dev/shm", "/tmp"}) {
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(folder, error)) add(entry.path());
  }
  std::ifstream sockets("/proc/net/unix");
  for (std::string line; std::getline(sockets, line);) {
    const std::size_t name = line.rfind(' ');
    if (name != std::string::npos) add(line.substr(name + 1));
  }
  return found;
}

std::set<std::string> open_files(const std::string& pid) {
  std::set<std::string> found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/" + pid + "/fd", error)) {
    const std::string target = std::filesystem::read_symlink(entry.path(), error);
    if (std::filesystem::is_regular_file(target, error)) found.insert(target);
  }
  return found;
}

// What a rank holds that has a name in a file system and could stay there after it: shared mappings, and open files
// that it does not have from this process. A memfd looks like a file that was removed.
std::vector<std::string> lasting(pid_t pid) {
  std::vector<std::string> found;
  std::ifstream maps(fmt::format("/proc/{}/maps", pid));
  for (std::string line; std::getline(maps, line);) {
    const bool shared = line.find("s ") == line.find(' ') + 4;
    if (shared && !line.ends_with(" (deleted)")) found.push_back(line);
  }
  const std::set<std::string> own = open_files("self");
  const std::set<std::string> its = open_files(fmt::format("{}", pid));
  std::set_difference(its.begin(), its.end(), own.begin(), own.end(), std::back_inserter(found));
  return found;
}

// How many ranks have said hello to the rendezvous in this process: its connections over which something has come.
int hellos() {
  int count = 0;
  for (int fd = 3; fd < 256; ++fd) {
    tcp_info info{};
    socklen_t length = sizeof info;
    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length) == 0 && info.tcpi_bytes_received > 0) ++count;
  }
  return count;
}

// --- a round
// ----------------------------------------------------------------------------------------------------------

// When the victim dies: while the others wait for the last rank, about when that arrives, or in the midst of calls.
enum class Moment { meeting, joining, calling };

struct Plan {
  Moment moment{};
  int victim = 0;
  int last = 0;  // joins after the others; not the victim
  Microseconds delay{};
  unsigned seed = 0;

  [[nodiscard]] std::string to_string() const {
    constexpr std::array<const char*, 3> kNames = {"meeting", "joining", "calling"};
    return fmt::format("rank {} killed after {} us of {}, rank {} last, seed {}", victim, delay.count(),
                       kNames[static_cast<std::size_t>(moment)], last, seed);
  }
};

Plan make_plan(std::mt19937& random) {
  const auto below = [&random](unsigned end) { return static_cast<int>(random() % end); };
  Plan plan;
  plan.moment = std::array{Moment::meeting, Moment::joining, Moment::calling, Moment::calling}[random() % 4];
  plan.victim = below(kRanks);
  plan.last = (plan.victim + 1 + below(kRanks - 1)) % kRanks;
  plan.delay = Microseconds(below(plan.moment == Moment::joining ? 8'000 : 50'000));
  plan.seed = static_cast<unsigned>(random());
  return plan;
}

class Round {
 public:
  explicit Round(const Plan& plan) : plan_(plan) {
    void* memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(memory, MAP_FAILED);
    shared_ = new (memory) Shared;
    for (int rank = 0; rank < kRanks; ++rank) {
      const pid_t pid = fork();
      if (pid == 0) be_rank(*shared_, rank, rank == plan.last, plan.seed);
      pids_.push_back(pid);
    }
  }
  Round(const Round&) = delete;
  Round& operator=(const Round&) = delete;
  ~Round() {
    for (const pid_t pid : pids_) {
      ::kill(pid, SIGKILL);
      waitpid(pid, nullptr, 0);
    }
    munmap(shared_, sizeof(Shared));
  }

  // How long each of the others took to notice.
  std::vector<Microseconds> run() {
    const auto server = RendezvousServer::start();
    EXPECT_TRUE(server.ok()) << server.status().to_string();
    const UniqueId::Raw raw = (*server)->id().to_bytes();
    std::transform(raw.begin(), raw.end(), shared_->id.begin(), [](std::byte byte) { return static_cast<char>(byte); });
    shared_->go.store(1);
    // A rank that dies before it has said who it is was never there; that the others wait for it is right.
    EXPECT_TRUE(eventually([] { return hellos() == kRanks - 1; })) << "the ranks did not say hello";
    if (plan_.moment != Moment::meeting) shared_->last_goes.store(1);
    if (plan_.moment == Moment::calling) {
      const auto calls = [](const Told& told) { return told.first_calls.load() != 0; };
      EXPECT_TRUE(eventually([&] { return std::all_of(shared_->told.begin(), shared_->told.end(), calls); }))
          << "the ranks did not come to call";
    }
    std::this_thread::sleep_for(plan_.delay);
    EXPECT_EQ(lasting(pid(plan_.victim)), std::vector<std::string>());
    const Clock::time_point killed = Clock::now();
    EXPECT_EQ(::kill(pid(plan_.victim), SIGKILL), 0);
    if (plan_.moment == Moment::meeting) {
      // The last comes to a meeting that is over, and that is another matter.
      ::kill(pid(plan_.last), SIGKILL);
    }
    return judge(killed);
  }

 private:
  template <typename Condition>
  static bool eventually(Condition condition) {
    const auto until = Clock::now() + std::chrono::seconds(10);
    while (!condition()) {
      if (Clock::now() >= until) return false;
      std::this_thread::sleep_for(Microseconds(100));
    }
    return true;
  }

  [[nodiscard]] pid_t pid(int rank) const { return pids_[static_cast<std::size_t>(rank)]; }

  std::vector<Microseconds> judge(Clock::time_point killed) {
    std::vector<Microseconds> times;
    for (int rank = 0; rank < kRanks; ++rank) {
      if (rank == plan_.victim || (rank == plan_.last && plan_.moment == Moment::meeting)) continue;
      const Told& told = shared_->told[static_cast<std::size_t>(rank)];
      if (!eventually([&told] { return told.finished.load() != 0; })) {
        ADD_FAILURE() << "rank " << rank << " did not notice";
        continue;
      }
      const auto taken = std::chrono::duration_cast<Microseconds>(told.when - killed);
      times.push_back(taken);
      const std::string words = told.words.data();
      EXPECT_EQ(told.result, tuttiRemoteError) << "rank " << rank << ": " << words;
      // "rank 2 was lost", "rank 2 (process 4711) ended before ...".
      EXPECT_TRUE(words.starts_with(fmt::format("rank {} ", plan_.victim))) << "rank " << rank << ": " << words;
      EXPECT_LT(taken, std::chrono::seconds(1)) << "rank " << rank << ": " << words;
      EXPECT_TRUE(told.stays_the_same) << "rank " << rank << ": " << words;
      EXPECT_TRUE(told.in_init || plan_.moment != Moment::meeting);
    }
    return times;
  }

  Plan plan_;
  Shared* shared_ = nullptr;
  std::vector<pid_t> pids_;
};

unsigned number_from(const char* name, unsigned otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : static_cast<unsigned>(std::strtoul(text, nullptr, 10));
}

TEST(Killed, IsNamedToAllOthersAndLeavesNothing) {
  const std::set<std::string> before = traces();
  const unsigned kills = number_from("KILLS", 100);
  const unsigned seed = number_from("KILL_SEED", std::random_device{}());
  std::mt19937 random(seed);
  std::vector<Microseconds> times;
  for (unsigned kill = 0; kill < kills; ++kill) {
    const Plan plan = make_plan(random);
    SCOPED_TRACE(fmt::format("KILL_SEED={} kill {}: {}", seed, kill, plan.to_string()));
    const std::vector<Microseconds> more = Round(plan).run();
    times.insert(times.end(), more.begin(), more.end());
    if (HasFailure()) break;
  }
  std::sort(times.begin(), times.end());
  const auto at = [&times](std::size_t percent) {
    return times.empty() ? Microseconds(0).count() : times[(times.size() - 1) * percent / 100].count();
  };
  fmt::print("{} kills, noticed after (us): {} least, {} median, {} of 90 %, {} of 99 %, {} most\n", kills, at(0),
             at(50), at(90), at(99), at(100));

  // Every child was waited for, and no child had children.
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
  // Others may use Tutti meanwhile; what is theirs goes.
  std::vector<std::string> left;
  for (int look = 0; look < 100; ++look) {
    left.clear();
    const std::set<std::string> now = traces();
    std::set_difference(now.begin(), now.end(), before.begin(), before.end(), std::back_inserter(left));
    if (left.empty()) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  EXPECT_EQ(left, std::vector<std::string>());
}

}  // namespace
}  // namespace tutti
