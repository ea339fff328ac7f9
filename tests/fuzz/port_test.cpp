// SPDX-License-Identifier: Apache-2.0
// Strangers at the ports that ranks and their rendezvous listen at, while the ranks call collectives: without a token,
// with a wrong one, with what a rank has said before, cut short, slow, too long, a thousand at once, and random bytes.
// No result is wrong, no call fails, nobody gets an answer that helps, and of all that only warnings are left.
//
// FAULTS_SEED begins another series; a failure prints it. What ranks say is recorded from the loopback interface, for
// which root is needed; without it, nothing is said again.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <linux/if_ether.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../transport/faults_seed.hpp"
#include "base/system/socket.hpp"
#include "base/system/unique_fd.hpp"
#include "loss/turn.hpp"
#include "runtime/bootstrap/rendezvous.hpp"
#include <tutti/tutti.h>

namespace tutti::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Bytes = std::vector<std::byte>;

constexpr int kPortRanks = 4;
constexpr seconds kPortPatience{60};
constexpr std::size_t kMostAtOnce = 1000;
constexpr std::size_t kMostRandom = 1 << 20;

template <typename Condition>
bool comes_true(Condition condition) {
  const auto until = Clock::now() + kPortPatience;
  while (!condition()) {
    if (Clock::now() >= until) return false;
    std::this_thread::sleep_for(milliseconds(1));
  }
  return true;
}

struct Said {
  std::atomic<int> turns = 0;
  std::atomic<int> has_ended = 0;
  std::array<char, 600> fault{};
};

struct Board {
  std::atomic<int> go = 0;
  std::atomic<int> stop = 0;
  std::array<char, UniqueId::kBytes> id{};
  std::array<Said, kPortRanks> ranks;
};

// A rank: calls until it is told to stop, and then makes a second communicator, for which all are asked again.
class PortRank {
 public:
  PortRank(Board& board, int rank) : board_(board), said_(board.ranks[static_cast<std::size_t>(rank)]), rank_(rank) {}

  void live() {
    while (board_.go.load() == 0) std::this_thread::sleep_for(milliseconds(1));
    tuttiComm_t second = nullptr;
    if (make() && call_all() && keep(tuttiCommDup(comm_, &second)) && keep(tuttiBarrier(second)) &&
        keep(tuttiCommDestroy(second)))
      static_cast<void>(keep(tuttiCommDestroy(comm_)));
    said_.has_ended.store(1);
  }

 private:
  bool make() {
    tuttiUniqueId id{};
    std::copy(board_.id.begin(), board_.id.end(), id.internal);
    return keep(tuttiCommInitRank(&comm_, kPortRanks, id, rank_));
  }
  bool keep(tuttiResult_t result) {
    return result == tuttiSuccess || fail(std::string("error: ") + tuttiGetLastError(nullptr));
  }
  bool fail(const std::string& words) {
    words.copy(said_.fault.data(), said_.fault.size() - 1);
    return false;
  }

  bool call_all() {
    constexpr std::size_t kMost = 1 << 15;
    std::minstd_rand random(1);
    std::vector<std::int32_t> in(kMost);
    std::vector<std::int32_t> out(kMost);
    for (int turn = 1;; ++turn) {
      std::int32_t stops = board_.stop.load();
      if (!keep(tuttiBcast(&stops, 1, tuttiInt32, 0, comm_))) return false;
      if (stops != 0) return true;
      const Turn next = make_turn(random, kPortRanks, kMost);
      const Caller caller{.num_ranks = kPortRanks, .rank = rank_, .turn = turn};
      fill(next, caller, in.data());
      if (!keep(call(next, in.data(), out.data(), comm_))) return false;
      if (!is_right(next, caller, out.data())) return fail(fmt::format("the result of turn {} is wrong", turn));
      said_.turns.store(turn);
    }
  }

  Board& board_;
  Said& said_;
  int rank_;
  tuttiComm_t comm_ = nullptr;
};

// The first bytes of each connection over the loopback interface, by the port that it was made to.
class Recorder {
 public:
  Recorder() : socket_(::socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, htons(ETH_P_IP))) {
    constexpr int kRoom = 8 << 20;
    if (socket_.valid()) static_cast<void>(setsockopt(socket_.get(), SOL_SOCKET, SO_RCVBUF, &kRoom, sizeof kRoom));
  }
  [[nodiscard]] bool can_record() const { return socket_.valid(); }
  [[nodiscard]] const std::map<std::uint16_t, std::vector<Bytes>>& beginnings() const { return beginnings_; }

  void record() {
    Bytes packet(1 << 16);
    for (ssize_t got = 0; socket_.valid() && (got = recv(socket_.get(), packet.data(), packet.size(), 0)) > 0;)
      note(std::span(packet).first(static_cast<std::size_t>(got)));
  }

 private:
  static std::uint16_t number(std::span<const std::byte> at) {
    return static_cast<std::uint16_t>(std::to_integer<unsigned>(at[0]) << 8 | std::to_integer<unsigned>(at[1]));
  }
  // The kernel's own lengths: an IPv4 header, and a TCP header behind it.
  void note(std::span<const std::byte> packet) {
    constexpr auto kTcp = std::byte{6};
    const std::size_t ip = packet.empty() ? 0 : 4 * std::to_integer<std::size_t>(packet[0] & std::byte{15});
    if (ip < 20 || packet.size() < ip + 20 || packet[9] != kTcp) return;
    const std::span<const std::byte> tcp = packet.subspan(ip);
    const std::size_t header = 4 * (std::to_integer<std::size_t>(tcp[12]) >> 4);
    if (tcp.size() <= header) return;
    const std::pair flow(number(tcp), number(tcp.subspan(2)));
    if (!begun_.emplace(flow, true).second) return;
    const std::span<const std::byte> said = tcp.subspan(header);
    beginnings_[flow.second].emplace_back(said.begin(), said.end());
  }

  UniqueFd socket_;
  std::map<std::pair<std::uint16_t, std::uint16_t>, bool> begun_{};
  std::map<std::uint16_t, std::vector<Bytes>> beginnings_{};
};

// Who connects, says something in parts, and perhaps stays.
struct PortStranger {
  UniqueFd socket;
  Bytes words{};
  std::size_t part = 1 << 16;
  Clock::time_point next{};
  Clock::time_point until{};
};

class Fuzz : public testing::Test {
 protected:
  void SetUp() override {
    void* memory = mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    board_ = new (memory) Board;
    for (int rank = 0; rank < kPortRanks; ++rank) fork_rank(rank);
    Address loopback{.family = Address::Family::ipv4};
    loopback.bytes = {127, 0, 0, 1};
    auto server = RendezvousServer::start({.address = loopback});
    ASSERT_TRUE(server.ok()) << server.status().to_string();
    server_ = std::move(*server);
    const UniqueId::Raw raw = server_->id().to_bytes();
    std::memcpy(board_->id.data(), raw.data(), raw.size());
    rlimit limit{};
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, 4 * kMostAtOnce);
    setrlimit(RLIMIT_NOFILE, &limit);
  }
  void TearDown() override {
    for (const pid_t process : processes_) {
      ::kill(process, SIGKILL);
      waitpid(process, nullptr, 0);
    }
    if (HasFailure()) ADD_FAILURE() << "FAULTS_SEED=" << seed_;
    munmap(board_, sizeof(Board));
  }

  void fork_rank(int rank) {
    logs_.emplace_back(memfd_create("log", 0));
    const pid_t process = fork();
    if (process == 0) {
      ::setenv("TUTTI_HOST_ID", rank % 2 == 0 ? "even" : "odd", 1);
      ::setenv("TUTTI_CONF_FILE", "", 1);
      dup2(logs_.back().get(), STDERR_FILENO);
      PortRank(*board_, rank).live();
      _exit(0);
    }
    processes_.push_back(process);
  }

  [[nodiscard]] int least_turns() const {
    int least = board_->ranks.front().turns.load();
    for (const Said& said : board_->ranks) least = std::min(least, said.turns.load());
    return least;
  }
  [[nodiscard]] std::string fault() const {
    std::string all;
    for (int rank = 0; rank < kPortRanks; ++rank) {
      const Said& said = board_->ranks[static_cast<std::size_t>(rank)];
      if (said.fault.front() != 0) all += fmt::format("rank {}: {}\n", rank, said.fault.data());
      if (said.has_ended.load() != 0 && board_->stop.load() == 0) all += fmt::format("rank {} has ended\n", rank);
    }
    return all;
  }

  static std::size_t descriptors_of(pid_t process) {
    std::error_code error;
    const std::filesystem::directory_iterator all(fmt::format("/proc/{}/fd", process), error);
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
  }

  // Of the ranks; that of the rendezvous is known.
  [[nodiscard]] std::vector<std::uint16_t> find_ports() const {
    std::map<std::string, std::uint16_t> listening;  // by inode
    std::ifstream table("/proc/net/tcp");
    std::string line;
    std::getline(table, line);
    while (std::getline(table, line)) {
      std::istringstream words(line);
      std::array<std::string, 10> word;
      for (std::string& each : word) words >> each;
      constexpr const char* kListens = "0A";
      if (word[3] == kListens)
        listening["socket:[" + word[9] + "]"] =
            static_cast<std::uint16_t>(std::strtoul(word[1].substr(word[1].find(':') + 1).c_str(), nullptr, 16));
    }
    std::vector<std::uint16_t> ports;
    for (const pid_t process : processes_)
      for (const auto& entry : std::filesystem::directory_iterator(fmt::format("/proc/{}/fd", process))) {
        std::error_code error;
        const auto found = listening.find(std::filesystem::read_symlink(entry.path(), error));
        if (found != listening.end()) ports.push_back(found->second);
      }
    return ports;
  }

  // Those of a megabyte that are drawn once, from some place on.
  Bytes random_bytes(std::size_t most) {
    if (drawn_.empty())
      std::generate_n(std::back_inserter(drawn_), kMostRandom, [this] { return static_cast<std::byte>(random_()); });
    const std::size_t count = random_() % (most + 1);
    const auto from = drawn_.begin() + static_cast<std::ptrdiff_t>(random_() % (drawn_.size() - count + 1));
    return {from, from + static_cast<std::ptrdiff_t>(count)};
  }

  // What a rank has said to that port before; nothing where that was not recorded.
  Bytes recorded(std::uint16_t port) {
    const auto found = recorder_.beginnings().find(port);
    if (found == recorder_.beginnings().end() || found->second.empty()) return random_bytes(100);
    return found->second[random_() % found->second.size()];
  }

  PortStranger make_stranger(std::uint16_t port) {
    PortStranger stranger;
    const bool is_rank = port != server_->id().address().port;
    constexpr unsigned kKinds = 7;
    const auto kind = static_cast<unsigned>(random_() % kKinds);
    stranger.words = kind < 5 ? recorded(port) : random_bytes(kind == 5 ? 300 : kMostRandom);
    Bytes& words = stranger.words;
    // The meeting believes whoever has read what ranks have said, and so nothing is said to it again.
    const bool is_forged = kind == 0 || kind == 3 || !is_rank;
    if (is_forged && !words.empty()) words[random_() % std::min<std::size_t>(words.size(), 80)] ^= std::byte{1};
    if (kind == 1) words.resize(std::min<std::size_t>(words.size(), 80));  // a hello alone
    if (kind == 2) words.resize(random_() % (words.size() + 1));
    if (kind == 4) words.clear();
    if (kind == 3) {
      const Bytes more = random_bytes(5000);
      words.insert(words.end(), more.begin(), more.end());
    }
    if (random_() % 4 == 0) stranger.part = 1 + random_() % 20;  // slow
    stranger.until = Clock::now() + milliseconds(random_() % 3 == 0 ? random_() % 8000 : random_() % 100);
    return stranger;
  }

  void connect_to(std::uint16_t port, PortStranger stranger) {
    Address address{.family = Address::Family::ipv4, .port = port};
    address.bytes = {127, 0, 0, 1};
    Result<UniqueFd> socket = begin_connect(address);
    if (!socket.ok()) return;
    stranger.socket = std::move(*socket);
    strangers_.push_back(std::move(stranger));
    ++num_strangers_;
  }

  void go_on() {
    const Clock::time_point now = Clock::now();
    std::erase_if(strangers_, [&](PortStranger& each) {
      std::array<std::byte, 512> answer{};
      if (now >= each.until || receive_some(each.socket.get(), answer).outcome == SocketTransfer::Outcome::closed) {
        // Some end by a reset.
        const linger reset{.l_onoff = 1, .l_linger = 0};
        if (random_() % 2 == 0)
          static_cast<void>(setsockopt(each.socket.get(), SOL_SOCKET, SO_LINGER, &reset, sizeof reset));
        return now >= each.until || connect_outcome(each.socket.get()).ok();
      }
      if (now < each.next || each.words.empty()) return false;
      const std::size_t part = std::min(each.part, each.words.size());
      const SocketTransfer sent = send_some(each.socket.get(), std::span(each.words).first(part));
      each.words.erase(each.words.begin(), each.words.begin() + static_cast<std::ptrdiff_t>(sent.bytes));
      if (each.part < 100) each.next = now + milliseconds(20);
      return false;
    });
  }

  void knock_for(seconds lasts) {
    const Clock::time_point until = Clock::now() + lasts;
    constexpr milliseconds kBetweenCrowds{3000};
    Clock::time_point crowd = Clock::now();
    while (Clock::now() < until && fault().empty()) {
      recorder_.record();
      const std::uint16_t port = ports_[random_() % ports_.size()];
      if (Clock::now() >= crowd) {
        crowd += kBetweenCrowds;
        for (std::size_t i = 0; i < kMostAtOnce; ++i) {
          PortStranger stranger = make_stranger(port);
          stranger.until = Clock::now() + milliseconds(random_() % 500);
          connect_to(port, std::move(stranger));
        }
      } else if (strangers_.size() < 100) {
        connect_to(port, make_stranger(port));
      }
      go_on();
      std::this_thread::sleep_for(milliseconds(1));
    }
    strangers_.clear();
  }

  [[nodiscard]] std::string log_of(std::size_t rank) const {
    std::string text(1 << 16, '\0');
    const ssize_t length = pread(logs_[rank].get(), text.data(), text.size(), 0);
    text.resize(length > 0 ? static_cast<std::size_t>(length) : 0);
    return text;
  }

  std::uint64_t seed_ = seed_of_faults();
  std::mt19937_64 random_{seed_};
  Bytes drawn_{};
  Board* board_ = nullptr;
  std::vector<UniqueFd> logs_{};
  std::vector<pid_t> processes_{};
  Recorder recorder_{};
  std::unique_ptr<RendezvousServer> server_{};
  std::vector<std::uint16_t> ports_{};
  std::vector<PortStranger> strangers_{};
  std::size_t num_strangers_ = 0;
};

TEST_F(Fuzz, StrangersAtListeningPortsLeaveOnlyWarnings) {
  board_->go.store(1);
  ASSERT_TRUE(comes_true([&] { return least_turns() >= 100 || !fault().empty(); }));
  recorder_.record();
  ports_ = find_ports();
  ASSERT_EQ(ports_.size(), static_cast<std::size_t>(kPortRanks));
  ports_.push_back(server_->id().address().port);
  std::vector<std::size_t> descriptors;
  for (const pid_t process : processes_) descriptors.push_back(descriptors_of(process));

  const int turns = least_turns();
  knock_for(seconds(TUTTI_PORT_FUZZ_SECONDS));
  ASSERT_EQ(fault(), "");
  fmt::print("{} strangers, {} calls meanwhile{}\n", num_strangers_, least_turns() - turns,
             recorder_.can_record() ? "" : "; nothing was said again, for want of a recording");
  EXPECT_GT(least_turns(), turns);
  // Those that stay have 5 seconds.
  for (std::size_t rank = 0; rank < processes_.size(); ++rank)
    EXPECT_TRUE(comes_true([&] { return descriptors_of(processes_[rank]) <= descriptors[rank]; }))
        << "rank " << rank << " has " << descriptors_of(processes_[rank]) << " descriptors instead of "
        << descriptors[rank];

  board_->stop.store(1);
  for (const Said& said : board_->ranks) ASSERT_TRUE(comes_true([&] { return said.has_ended.load() != 0; }));
  EXPECT_EQ(fault(), "");
  std::size_t num_warnings = 0;
  for (std::size_t rank = 0; rank < processes_.size(); ++rank) {
    std::istringstream log(log_of(rank));
    for (std::string line; std::getline(log, line); ++num_warnings)
      EXPECT_NE(line.find("somebody who is no rank of this communicator"), std::string::npos)
          << "rank " << rank << " logged: " << line;
  }
  EXPECT_GT(num_warnings, 0U);
}

}  // namespace
}  // namespace tutti::test
