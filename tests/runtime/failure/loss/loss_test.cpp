// SPDX-License-Identifier: Apache-2.0
// Ranks that are killed, stopped or give up at random moments of their life: while the ranks meet, in the middle of
// calls of everything the API has, and while they leave. Each of the others returns an error that names the rank,
// within a second of a kill and TUTTI_TIMEOUT of a stop, says the same from then on, and nothing is left behind.
//
// LOSS_TRIALS sets how often, LOSS_SEED begins another series; a failure prints both.
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/system/unique_fd.hpp"
#include "loss/traces.hpp"
#include "loss/trial.hpp"
#include "runtime/bootstrap/rendezvous.hpp"

namespace tutti::test {
namespace {

using std::chrono::duration_cast;

// Of a rank that was stopped: beyond the timeout.
constexpr Milliseconds kTimeoutSlack{500};
constexpr Milliseconds kMostWantOfCore{500};

template <typename Condition>
bool eventually(Condition condition) {
  const auto until = Clock::now() + std::chrono::seconds(60);
  while (!condition()) {
    if (Clock::now() >= until) return false;
    std::this_thread::sleep_for(Microseconds(100));
  }
  return true;
}

class Round {
 public:
  explicit Round(const Trial& trial) : trial_(trial) {
    void* memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(memory, MAP_FAILED);
    shared_ = new (memory) Shared;
    for (int rank = 0; rank < kRanks; ++rank) logs_.emplace_back(memfd_create("log", 0));
    for (int rank = 0; rank < kRanks; ++rank) {
      const pid_t process = fork();
      if (process == 0) be_rank(*shared_, trial, rank, logs_[static_cast<std::size_t>(rank)].get());
      processes_.push_back(process);
    }
  }
  Round(const Round&) = delete;
  Round& operator=(const Round&) = delete;
  ~Round() {
    for (const pid_t process : processes_) {
      ::kill(process, SIGKILL);
      waitpid(process, nullptr, 0);
    }
    munmap(shared_, sizeof(Shared));
  }

  // How long each of the others took to notice.
  std::vector<Microseconds> run() {
    start();
    std::this_thread::sleep_for(trial_.delay);
    EXPECT_EQ(lasting(victim()), std::vector<std::string>());
    if (trial_.fault == Fault::pause) pause();
    const Clock::time_point then = Clock::now();
    switch (trial_.fault) {
      case Fault::stop: EXPECT_EQ(::kill(victim(), SIGSTOP), 0); break;
      case Fault::abort: shared_->abort_now.store(1); break;
      case Fault::kill:
      case Fault::pause: EXPECT_EQ(::kill(victim(), SIGKILL), 0); break;
    }
    // The last comes to a meeting that is over, and that is another matter.
    if (trial_.moment == Moment::meeting) ::kill(process(trial_.last), SIGKILL);
    std::vector<Microseconds> times;
    for (int rank = 0; rank < kRanks; ++rank)
      if (is_judged(rank)) static_cast<void>(eventually([&] { return told(rank).finished.load() != 0; }));
    is_void_ = is_starved();
    if (is_void_) return times;
    for (int rank = 0; rank < kRanks; ++rank)
      if (is_judged(rank)) judge(rank, then, times);
    return times;
  }

  // Whether a rank got no core for so long that what it did tells nothing. Programs of higher priority can do that.
  [[nodiscard]] bool is_void() const { return is_void_; }

 private:
  [[nodiscard]] bool is_judged(int rank) const {
    return (rank != trial_.victim || trial_.fault == Fault::abort) &&
           (rank != trial_.last || trial_.moment != Moment::meeting);
  }

  [[nodiscard]] bool is_starved() const {
    // Of all its threads, each of which others may have to wait for.
    const bool wants = std::any_of(processes_.begin(), processes_.end(), [](pid_t each) {
      std::chrono::nanoseconds wanted{};
      std::error_code error;
      for (const auto& thread : std::filesystem::directory_iterator(fmt::format("/proc/{}/task", each), error)) {
        std::ifstream file(thread.path() / "schedstat");
        std::uint64_t ran = 0;
        std::uint64_t without_core = 0;
        file >> ran >> without_core;
        wanted += std::chrono::nanoseconds(without_core);
      }
      return wanted > kMostWantOfCore;
    });
    return wants || stolen() - stolen_before_ > kMostWantOfCore;
  }

  // For how long the host has kept a core of this machine for others, in the mean over all.
  static Milliseconds stolen() {
    std::ifstream file("/proc/stat");
    std::string name;
    std::int64_t ticks = 0;
    file >> name;
    for (int column = 0; column < 8; ++column) file >> ticks;  // user, nice, system, idle, iowait, irq, softirq, steal
    return Milliseconds(file ? ticks * 1000 / sysconf(_SC_CLK_TCK) / sysconf(_SC_NPROCESSORS_ONLN) : 0);
  }

  [[nodiscard]] pid_t process(int rank) const { return processes_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] pid_t victim() const { return process(trial_.victim); }
  [[nodiscard]] const Told& told(int rank) const { return shared_->told[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] bool all_have_done(int turns) const {
    return std::all_of(shared_->told.begin(), shared_->told.end(),
                       [turns](const Told& told) { return told.turns.load() >= turns; });
  }

  // Up to the moment of the trial, but for its delay.
  void start() {
    for (auto& id : shared_->ids) {
      RendezvousOptions options{.most_generations = 1};
      if (trial_.spans_hosts) options.address = Address{.bytes = {127, 0, 0, 1}};
      auto server = RendezvousServer::start(options);
      ASSERT_TRUE(server.ok()) << server.status().to_string();
      const UniqueId::Raw raw = (*server)->id().to_bytes();
      std::transform(raw.begin(), raw.end(), id.begin(), [](std::byte byte) { return static_cast<char>(byte); });
      servers_.push_back(std::move(*server));
    }
    shared_->go.store(1);
    // A rank that dies before it has said who it is was never there; that the others wait for it is right.
    EXPECT_TRUE(eventually([this] { return servers_.front()->arrived() == kRanks - 1; }) || is_starved())
        << "the ranks did not say hello";
    if (trial_.moment != Moment::meeting) shared_->last_goes.store(1);
    if (trial_.moment == Moment::calling) {
      EXPECT_TRUE(eventually([&] { return all_have_done(5); }) || is_starved()) << "the ranks did not come to call";
    } else if (trial_.moment == Moment::leaving) {
      EXPECT_TRUE(eventually([&] { return told(trial_.victim).turns.load() >= trial_.turns - 5; }) || is_starved())
          << "the ranks did not come to leave";
    }
  }

  // The others wait, say whose process is stopped, and go on with it.
  void pause() {
    ::kill(victim(), SIGSTOP);
    const Clock::time_point stopped = Clock::now();
    const std::string words = fmt::format("process {} is stopped", victim());
    for (int rank = 0; rank < kRanks; ++rank) {
      if (rank == trial_.victim) continue;
      const bool warned = eventually([&] { return log_of(rank).find(words) != std::string::npos; });
      EXPECT_TRUE(warned || is_starved()) << "rank " << rank << " did not warn: " << log_of(rank);
      EXPECT_TRUE(Clock::now() - stopped < trial_.late_warning + kTimeoutSlack || is_starved()) << "rank " << rank;
    }
    ::kill(victim(), SIGCONT);
    const int turns = told(trial_.victim).turns.load();
    EXPECT_TRUE(eventually([&] { return all_have_done(turns + 5); }) || is_starved()) << "the ranks did not go on";
  }

  [[nodiscard]] std::string log_of(int rank) const {
    std::string text(1 << 16, '\0');
    const ssize_t length = pread(logs_[static_cast<std::size_t>(rank)].get(), text.data(), text.size(), 0);
    text.resize(length > 0 ? static_cast<std::size_t>(length) : 0);
    return text;
  }

  void judge(int rank, Clock::time_point then, std::vector<Microseconds>& times) {
    const Told& its = told(rank);
    SCOPED_TRACE(fmt::format("rank {} after {} turns", rank, its.turns.load()));
    if (!eventually([&its] { return its.finished.load() != 0; })) {
      ADD_FAILURE() << "it did not come to an end";
      return;
    }
    EXPECT_EQ(its.wrong_turn, -1) << "a result was wrong";
    if (trial_.moment == Moment::leaving) {
      EXPECT_LT(its.gone - then, limit());
      if (its.failed.result == tuttiSuccess) return;  // it was gone before
    }
    judge(its.failed);
    EXPECT_LT(its.failed.when - then, limit()) << its.failed.words.data();
    times.push_back(duration_cast<Microseconds>(its.failed.when - then));
    if (its.in_init) return;
    EXPECT_NE(trial_.moment, Moment::meeting);
    EXPECT_TRUE(its.stays_the_same) << its.failed.words.data();
    EXPECT_TRUE(its.survivors_are_right);
    if (its.has_asked_other) judge(its.other);
  }

  [[nodiscard]] Milliseconds limit() const {
    return trial_.fault == Fault::stop ? trial_.timeout + kTimeoutSlack : Milliseconds(1000);
  }

  // "rank 2 was lost", "rank 2 (process 4711) ended before ...", "rank 2 aborted ...", "rank 2 is late: ...".
  void judge(const Failed& failed) const {
    EXPECT_EQ(failed.result, trial_.fault == Fault::stop ? tuttiTimeout : tuttiRemoteError) << failed.words.data();
    const std::string names = fmt::format("rank {} ", number_in(failed.group, trial_.victim));
    EXPECT_TRUE(std::string(failed.words.data()).starts_with(names)) << failed.words.data() << "; expected " << names;
  }

  Trial trial_;
  Milliseconds stolen_before_ = stolen();
  bool is_void_ = false;
  Shared* shared_ = nullptr;
  std::vector<UniqueFd> logs_;
  std::vector<pid_t> processes_;
  std::vector<std::unique_ptr<RendezvousServer>> servers_;
};

unsigned number_from(const char* name, unsigned otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : static_cast<unsigned>(std::strtoul(text, nullptr, 10));
}

void print(Fault fault, std::vector<Microseconds>& times) {
  constexpr std::array kNames = {"kill", "stop", "kill after a pause", "abort"};
  std::sort(times.begin(), times.end());
  const auto at = [&times](std::size_t percent) { return times[(times.size() - 1) * percent / 100].count(); };
  fmt::print("{}: {} ranks noticed after (us): {} least, {} median, {} of 90 %, {} of 99 %, {} most\n",
             kNames[static_cast<std::size_t>(fault)], times.size(), at(0), at(50), at(90), at(99), at(100));
}

void expect_nothing_left(const std::set<std::string>& before) {
  // Every child was waited for, and no child had children.
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
  // Others may use Tutti meanwhile; what is theirs comes and goes.
  std::set<std::string> left = traces();
  std::erase_if(left, [&](const std::string& each) { return before.contains(each); });
  for (int look = 0; look < 200 && !left.empty(); ++look) {
    std::this_thread::sleep_for(Milliseconds(50));
    const std::set<std::string> now = traces();
    std::erase_if(left, [&](const std::string& each) { return !now.contains(each); });
  }
  EXPECT_EQ(left, std::set<std::string>());
}

void expect_named_to_all_others(bool over_hosts) {
  const std::set<std::string> before = traces();
  const unsigned trials = number_from("LOSS_TRIALS", TUTTI_LOSS_TRIALS);
  const unsigned seed = number_from("LOSS_SEED", std::random_device{}());
  std::mt19937 random(seed);
  std::map<Fault, std::vector<Microseconds>> times;
  unsigned voids = 0;
  for (unsigned number = 0; number < trials; ++number) {
    const Trial made = Trial::make(random, Milliseconds(TUTTI_LOSS_TIMEOUT), TUTTI_LOSS_IS_BRIEF);
    const Trial trial = over_hosts ? made.over_hosts() : made;
    SCOPED_TRACE(fmt::format("LOSS_SEED={} trial {}: {}", seed, number, trial.to_string()));
    Round round(trial);
    const std::vector<Microseconds> more = round.run();
    voids += round.is_void() ? 1 : 0;
    times[trial.fault].insert(times[trial.fault].end(), more.begin(), more.end());
    if (::testing::Test::HasFailure()) break;
  }
  if (voids > 0) fmt::print("{} of {} trials tell nothing: their ranks got no core for long\n", voids, trials);
  EXPECT_LE(voids, (trials + 3) / 4) << "too few trials tell anything: the machine is too busy";
  for (auto& [fault, taken] : times)
    if (!taken.empty()) print(fault, taken);
  expect_nothing_left(before);
}

TEST(Loss, IsNamedToAllOthersAndLeavesNothing) { expect_named_to_all_others(false); }
TEST(Loss, OverHostsIsNamedToAllOthersAndLeavesNothing) { expect_named_to_all_others(true); }

}  // namespace
}  // namespace tutti::test
