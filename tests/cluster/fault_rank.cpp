// SPDX-License-Identifier: Apache-2.0
// fault_rank RANK RANKS SEED MILLISECONDS [apart]: a rank of tests/cluster/fault_trials. For that long it calls
// collectives and sends and receives, drawn from the seed, and checks every result. `apart`: with short buffers, and
// after each call in one communicator all meet in another. Rank 0 makes the id and prints it; the others read it from
// their input. It prints one line a matter, and ends with status 0 whatever has become of it:
//   id HEX · joined · done CALLS · wrong CALL · error CALL RESULT WORDS
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "loss/turn.hpp"
#include <tutti/tutti.h>

namespace tutti::test {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMost = 1 << 18;  // elements of a buffer: 1 MB
// So short that messages are kept to be sent again (decision 0077).
constexpr std::size_t kMostApart = 1000;

void print_id(const tuttiUniqueId& id) {
  std::printf("id ");
  for (const char each : id.internal) std::printf("%02x", static_cast<unsigned>(static_cast<unsigned char>(each)));
  std::printf("\n");
  std::fflush(stdout);
}

bool read_id(tuttiUniqueId& id) {
  for (char& each : id.internal) {
    unsigned value = 0;
    if (std::scanf("%2x", &value) != 1) return false;
    each = static_cast<char>(value);
  }
  return true;
}

class FaultRank {
 public:
  FaultRank(int rank, int ranks, unsigned seed, std::chrono::milliseconds lasts, bool apart)
      : rank_(rank), ranks_(ranks), random_(seed), lasts_(lasts), apart_(apart), in_(kMost), out_(kMost) {}

  void live() {
    if (!join()) return;
    std::printf("joined\n");
    std::fflush(stdout);
    work();
    tuttiCommDestroy(elsewhere_);
    tuttiCommDestroy(comm_);
  }

 private:
  bool join() {
    tuttiUniqueId id{};
    if (rank_ == 0) {
      if (!keep(tuttiGetUniqueId(&id))) return false;
      print_id(id);
    } else if (!read_id(id)) {
      return false;
    }
    return keep(tuttiCommInitRank(&comm_, ranks_, id, rank_)) && (!apart_ || keep(tuttiCommDup(comm_, &elsewhere_)));
  }

  bool keep(tuttiResult_t result) {
    if (result == tuttiSuccess) return true;
    std::printf("error %d %s %s\n", turn_, tuttiGetErrorString(result), tuttiGetLastError(nullptr));
    std::fflush(stdout);
    return false;
  }

  void work() {
    const auto until = Clock::now() + lasts_;
    for (;; ++turn_) {
      // Rank 0 says whether there is another turn.
      std::int32_t goes_on = Clock::now() < until ? 1 : 0;
      if (!keep(tuttiBcast(&goes_on, 1, tuttiInt32, 0, comm_))) return;
      if (goes_on == 0) break;
      if (!do_turn()) return;
      if (apart_ && !keep(tuttiBarrier(elsewhere_))) return;
    }
    std::printf("done %d\n", turn_);
    std::fflush(stdout);
  }

  bool do_turn() {
    Turn turn = make_turn(random_, ranks_, apart_ ? kMostApart : kMost);
    const bool sends = random_() % 5 == 0;
    const int step = 1 + static_cast<int>(random_() % static_cast<unsigned>(ranks_ - 1));
    std::fill(out_.begin(), out_.end(), -1);
    if (sends) return transfer(turn, step);
    const Caller caller{.num_ranks = ranks_, .rank = rank_, .turn = turn_};
    std::int32_t* const out = turn.in_place && turn.can_be_in_place() ? in_.data() : out_.data();
    fill(turn, caller, in_.data());
    return keep(call(turn, in_.data(), out, comm_)) && check(is_right(turn, caller, out));
  }

  // To the rank so many further on, and from the one so many before.
  bool transfer(Turn turn, int step) {
    const int from = (rank_ + ranks_ - step) % ranks_;
    turn.called = Called::broadcast;
    turn.root = from;
    fill(turn, {.num_ranks = ranks_, .rank = rank_, .turn = turn_}, in_.data());
    return keep(tuttiSendRecv(in_.data(), turn.count, (rank_ + step) % ranks_, out_.data(), turn.count, from,
                              tuttiInt32, comm_)) &&
           check(is_right(turn, {.num_ranks = ranks_, .rank = rank_, .turn = turn_}, out_.data()));
  }

  bool check(bool right) {
    if (right) return true;
    std::printf("wrong %d\n", turn_);
    std::fflush(stdout);
    return false;
  }

  int rank_;
  int ranks_;
  std::minstd_rand random_;
  std::chrono::milliseconds lasts_;
  bool apart_;
  std::vector<std::int32_t> in_;
  std::vector<std::int32_t> out_;
  tuttiComm_t comm_ = nullptr;
  tuttiComm_t elsewhere_ = nullptr;
  int turn_ = 0;
};

}  // namespace
}  // namespace tutti::test

int main(int count, char** words) {
  const bool apart = count == 6 && std::strcmp(words[5], "apart") == 0;
  if (count != 5 && !apart) {
    std::fprintf(stderr, "usage: fault_rank RANK RANKS SEED MILLISECONDS [apart]\n");
    return 2;
  }
  const auto number = [words](int at) { return static_cast<int>(std::strtol(words[at], nullptr, 10)); };
  tutti::test::FaultRank(number(1), number(2), static_cast<unsigned>(number(3)), std::chrono::milliseconds(number(4)),
                         apart)
      .live();
  return 0;
}
