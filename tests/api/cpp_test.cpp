// SPDX-License-Identifier: Apache-2.0
// The C++ API, with ranks as threads of one process.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <numeric>
#include <optional>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <tutti/tutti.hpp>

namespace tutti::test {
namespace {

void run_members(int num_ranks, const std::function<void(Communicator& comm)>& body, const Config& config = {}) {
  const UniqueId id = make_unique_id();
  std::vector<std::jthread> threads;
  threads.reserve(static_cast<std::size_t>(num_ranks));
  for (int rank = 0; rank < num_ranks; ++rank)
    threads.emplace_back([&, rank] {
      try {
        Communicator comm = Communicator::join(id, num_ranks, rank, config);
        body(comm);
      } catch (const std::exception& error) {
        ADD_FAILURE() << "rank " << rank << ": " << error.what();
      }
    });
}

std::string words_thrown(const std::function<void()>& call, Result expected) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.result(), expected);
    return error.what();
  }
  return "nothing was thrown";
}

using Ints = std::vector<int>;

template <typename T>
constexpr tuttiDataType_t type_of() {
  return detail::data_type<T>();
}
static_assert(type_of<float>() == tuttiFloat32 && type_of<double>() == tuttiFloat64);
static_assert(type_of<signed char>() == tuttiInt8 && type_of<std::uint8_t>() == tuttiUint8);
static_assert(type_of<std::byte>() == tuttiUint8);
static_assert(type_of<short>() == tuttiInt16 && type_of<std::uint16_t>() == tuttiUint16);
static_assert(type_of<int>() == tuttiInt32 && type_of<unsigned>() == tuttiUint32);
static_assert(type_of<long>() == tuttiInt64 && type_of<long long>() == tuttiInt64);
static_assert(type_of<unsigned long>() == tuttiUint64 && type_of<unsigned long long>() == tuttiUint64);
static_assert(type_of<Float16>() == tuttiFloat16 && type_of<Bfloat16>() == tuttiBfloat16);
static_assert(type_of<Float8e4m3>() == tuttiFloat8e4m3 && type_of<Float8e5m2>() == tuttiFloat8e5m2);
static_assert(!detail::HasDataType<bool>::value);
static_assert(!detail::HasDataType<int*>::value);
static_assert(!std::is_copy_constructible_v<Communicator> && std::is_nothrow_move_constructible_v<Communicator>);
static_assert(!std::is_copy_constructible_v<Request> && std::is_nothrow_move_constructible_v<Request>);

TEST(Cpp, DoesEveryCollective) {
  run_members(3, [](Communicator& comm) {
    const int rank = comm.rank();
    ASSERT_EQ(comm.num_ranks(), 3);
    const Ints mine = {rank, 10 * rank};
    Ints pair(2);
    comm.all_reduce(mine, pair, Op::sum);
    EXPECT_EQ(pair, (Ints{3, 30}));
    comm.all_reduce(pair, Op::maximum);
    EXPECT_EQ(pair, (Ints{3, 30}));
    Ints all(6);
    comm.all_gather(mine, all);
    EXPECT_EQ(all, (Ints{0, 0, 1, 10, 2, 20}));
    comm.reduce_scatter(all, pair, Op::sum);
    EXPECT_EQ(pair, (Ints{3 * rank, 30 * rank}));
    Ints exchanged(6);
    comm.all_to_all(all, exchanged);
    EXPECT_EQ(exchanged, (Ints{rank, 10 * rank, rank, 10 * rank, rank, 10 * rank}));
    Ints of_root = rank == 1 ? Ints{7, 8} : Ints(2);
    comm.broadcast(of_root, 1);
    EXPECT_EQ(of_root, (Ints{7, 8}));
    comm.broadcast(rank == 2 ? mine : Ints(), pair, 2);
    EXPECT_EQ(pair, (Ints{2, 20}));
    Ints at_root(rank == 0 ? 6 : 0);
    comm.gather(mine, at_root, 0);
    EXPECT_EQ(at_root, rank == 0 ? (Ints{0, 0, 1, 10, 2, 20}) : Ints());
    comm.scatter(at_root, pair, 0);
    EXPECT_EQ(pair, mine);
    at_root.resize(rank == 0 ? 2 : 0);
    comm.reduce(mine, at_root, Op::sum, 0);
    EXPECT_EQ(at_root, rank == 0 ? (Ints{3, 30}) : Ints());
    comm.scan(mine, pair, Op::sum);
    EXPECT_EQ(pair[1], 5 * rank * (rank + 1));
    comm.exclusive_scan(mine, pair, Op::sum);
    if (rank > 0) {
      EXPECT_EQ(pair[1], 5 * rank * (rank - 1));
    }
    comm.barrier();
  });
}

TEST(Cpp, TakesWhateverHasDataAndSize) {
  run_members(2, [](Communicator& comm) {
    std::array<double, 4> array{1, 2, 3, 4};
    comm.all_reduce(array, Op::average);
    EXPECT_EQ(array, (std::array<double, 4>{1, 2, 3, 4}));
    const std::span<double> part = std::span(array).first(2);
    comm.all_reduce(part, Op::sum);
    comm.all_reduce(elements(&array[2], 2), Op::product);
    EXPECT_EQ(array, (std::array<double, 4>{2, 4, 9, 16}));
    int plain[2] = {comm.rank(), 5};
    comm.all_reduce(plain, Op::maximum);
    EXPECT_EQ(plain[0], 1);
    int value = comm.rank() + 1;
    comm.all_reduce(one(value), Op::sum);
    EXPECT_EQ(value, 3);
    Ints all(2);
    comm.all_gather(one(std::as_const(value)), all);
    EXPECT_EQ(all, (Ints{3, 3}));
    std::vector<Float16> halves(3, Float16{0x3c00});  // 1.0
    comm.all_reduce(halves, Op::sum);
    EXPECT_EQ(halves[2].bits, 0x4000);  // 2.0
    std::vector<std::byte> bytes(5, std::byte{static_cast<unsigned char>(1 << comm.rank())});
    comm.all_reduce(bytes, Op::bit_or);
    EXPECT_EQ(bytes[4], std::byte{3});
  });
}

TEST(Cpp, RefusesSizesBeforeAnythingIsSent) {
  run_members(3, [](Communicator& comm) {
    const Ints two(2);
    Ints five(5);
    const auto words = [](const auto& call) { return words_thrown(call, Result::invalid_argument); };
    EXPECT_EQ(words([&] { comm.all_reduce(two, five, Op::sum); }),
              "all_reduce: the output has 5 elements, and 2 would be right");
    EXPECT_EQ(words([&] { comm.all_gather(two, five); }),
              "all_gather: the output has 5 elements, and 6 would be right");
    EXPECT_EQ(words([&] { const Request request = comm.ireduce_scatter(two, five, Op::sum); }),
              "ireduce_scatter: the input has 2 elements, and 15 would be right");
    EXPECT_EQ(words([&] { comm.all_to_all(five, five); }),
              "all_to_all: the input has 5 elements, and 6 would be right");
    EXPECT_EQ(words([&] { comm.all_to_all(Ints(3), five); }),
              "all_to_all: the output has 5 elements, and 3 would be right");
    EXPECT_EQ(words([&] { static_cast<void>(comm.gather_init(two, five, comm.rank())); }),
              "gather_init: the output has 5 elements, and 6 would be right");
    EXPECT_EQ(words([&] { comm.broadcast(five, 3); }), "broadcast: the root is rank 3; of 3 it must be 0 to 2");
    EXPECT_EQ(words([&] { Communicator().all_to_all(five, five); }), "all_to_all: comm is null");
    int value = 1;
    comm.all_reduce(one(value), Op::sum);
    EXPECT_EQ(value, 3);
  });
}

TEST(Cpp, TakesBlocksOfDifferentSizes) {
  run_members(3, [](Communicator& comm) {
    const auto rank = static_cast<std::size_t>(comm.rank());
    using Counts = std::vector<std::size_t>;
    const Counts counts = {0, 1, 2};
    const Ints mine(rank, comm.rank());
    Ints all(3);
    comm.all_gather_v(mine, all, counts);
    EXPECT_EQ(all, (Ints{1, 2, 2}));
    Ints spread(6, -1);
    comm.all_gather_v(mine, spread, Blocks(counts, Counts{0, 5, 0}));
    EXPECT_EQ(spread, (Ints{2, 2, -1, -1, -1, 1}));
    Ints own(rank);
    comm.reduce_scatter_v(all, own, counts, Op::sum);
    EXPECT_EQ(own, Ints(rank, comm.rank() * 3));
    Ints collected(comm.rank() == 1 ? 3 : 0);
    comm.gather_v(mine, collected, comm.rank() == 1 ? counts : Counts(), 1);
    EXPECT_EQ(collected, comm.rank() == 1 ? all : Ints());
    comm.scatter_v(collected, comm.rank() == 1 ? counts : Counts(), own, 1);
    EXPECT_EQ(own, mine);
    // Rank j gets j elements of everyone.
    Ints heard(3 * rank);
    comm.all_to_all_v(Ints(3, comm.rank()), counts, heard, Counts(3, rank));
    if (rank > 0) {
      EXPECT_EQ(heard[rank - 1], 0);
      EXPECT_EQ(heard.back(), 2);
    }
    EXPECT_EQ(words_thrown([&] { comm.all_gather_v(mine, all, Counts(2)); }, Result::invalid_argument),
              "all_gather_v: there are 2 counts for 3 ranks");
    EXPECT_EQ(words_thrown([&] { comm.all_gather_v(mine, spread, counts); }, Result::invalid_argument),
              "all_gather_v: the output has 6 elements, and its blocks end at 3");
    EXPECT_EQ(words_thrown([&] { comm.reduce_scatter_v(all, all, counts, Op::sum); }, Result::invalid_argument)
                  .find("reduce_scatter_v: the output has 3 elements"),
              0U);
    for (const Statistic& each : comm.statistics()) {
      EXPECT_NE(each.operation, "all_gather");
      EXPECT_EQ(each.operation.substr(each.operation.size() - 2), "_v");
    }
  });
}

TEST(Cpp, BeginsAndPreparesBlocksOfDifferentSizes) {
  run_members(3, [](Communicator& comm) {
    const auto rank = static_cast<std::size_t>(comm.rank());
    using Counts = std::vector<std::size_t>;
    const Counts counts = {0, 1, 2};
    const Counts at_root = comm.rank() == 1 ? counts : Counts();
    const Ints mine(rank, comm.rank());
    const Ints right = {1, 2, 2};
    Ints all(3);
    Ints collected(comm.rank() == 1 ? 3 : 0);
    std::vector<Request> requests;
    requests.push_back(comm.iall_gather_v(mine, all, Counts(counts)));  // which is read here
    requests.push_back(comm.igather_v(mine, collected, at_root, 1));
    wait_all(requests);
    EXPECT_EQ(all, right);
    EXPECT_EQ(collected, comm.rank() == 1 ? right : Ints());
    const Ints gives(3, comm.rank());
    Ints heard(3 * rank);
    Ints own(rank);
    Ints folded(rank);
    std::vector<PersistentRequest> prepared;
    prepared.push_back(comm.all_to_all_v_init(gives, counts, heard, Counts(3, rank)));
    prepared.push_back(comm.scatter_v_init(collected, at_root, own, 1));
    prepared.push_back(comm.reduce_scatter_v_init(all, folded, counts, Op::sum));
    for (int turn = 0; turn < 2; ++turn) {
      start_all(prepared);
      wait_all(prepared);
    }
    EXPECT_EQ(own, mine);
    EXPECT_EQ(folded, Ints(rank, comm.rank() * 3));
    if (rank > 0) {
      EXPECT_EQ(heard[rank - 1], 0);
      EXPECT_EQ(heard.back(), 2);
    }
  });
}

TEST(Cpp, MakesOperatorsOfFunctions) {
  run_members(3, [](Communicator& comm) {
    // Matrices of the form x -> a x + b, in a number: their product does not commute.
    const std::int64_t modulus = 1000;
    const auto compose = [modulus](std::int64_t f, std::int64_t g) {
      const std::int64_t a = (f / modulus) * (g / modulus) % modulus;
      return a * modulus + ((g / modulus) * (f % modulus) + g % modulus) % modulus;
    };
    const Operator<std::int64_t> op = comm.make_operator<std::int64_t>(compose, Commutes::no);
    const std::int64_t mine = (comm.rank() + 2) * modulus + 1 + comm.rank();
    std::int64_t all = 0;
    comm.all_reduce(one(mine), one(all), op);
    EXPECT_EQ(all, compose(compose(2001, 3002), 4003));
    // As an object that is moved, and asked for by requests.
    Operator<std::int64_t> first = comm.make_operator<std::int64_t>(std::plus<>(), Commutes::yes);
    Operator<std::int64_t> moved = std::move(first);
    Request request = comm.iall_reduce(one(mine), one(all), moved);
    request.wait();
    EXPECT_EQ(all, 2001 + 3002 + 4003);
    const Operator<float> scaled = comm.make_premultiplied_sum(0.5F);
    float value = 4;
    comm.all_reduce(one(value), scaled);
    EXPECT_EQ(value, 6);
  });
}

TEST(Cpp, WaitsForRequests) {
  run_members(2, [](Communicator& comm) {
    const Ints mine(1 << 15, comm.rank() + 1);
    Ints sum(mine.size());
    Ints product(mine.size());
    std::vector<Request> requests;
    requests.push_back(comm.iall_reduce(mine, sum, Op::sum));
    requests.push_back(comm.iall_reduce(mine, product, Op::product));
    requests.push_back(comm.ibarrier());
    wait_all(requests);
    EXPECT_EQ(sum, Ints(mine.size(), 3));
    EXPECT_EQ(product, Ints(mine.size(), 2));
    EXPECT_TRUE(requests[0].test());
    // Who drops one waits for it.
    { const Request dropped = comm.iall_reduce(mine, product, Op::sum); }
    EXPECT_EQ(product, sum);
    Request request = comm.ibroadcast(product, 0);
    while (!request.test()) std::this_thread::yield();
    request = comm.iall_reduce(mine, sum, Op::maximum);
    request = Request();
    EXPECT_EQ(sum, Ints(mine.size(), 2));
  });
}

TEST(Cpp, StartsPersistentRequestsOften) {
  run_members(2, [](Communicator& comm) {
    int mine = 0;
    int sum = 0;
    int heard = 0;
    const int other = 1 - comm.rank();
    std::array<PersistentRequest, 3> requests = {comm.all_reduce_init(one(mine), one(sum), Op::sum),
                                                 comm.send_init(one(mine), other),
                                                 comm.receive_init(one(heard), other)};
    for (int turn = 1; turn < 20; ++turn) {
      mine = turn * (comm.rank() + 1);
      start_all(requests);
      wait_all(requests);
      ASSERT_EQ(sum, 3 * turn);
      ASSERT_EQ(heard, turn * (other + 1));
    }
    requests[2].start();
    EXPECT_EQ(words_thrown([&] { requests[2].start(); }, Result::invalid_usage),
              "start: the request is active: wait for it, or test it until it is done, before it is started again");
    comm.barrier();
    comm.send(one(mine), other);
  });
}

TEST(Cpp, WaitsForAnyAndTestsAll) {
  run_members(2, [](Communicator& comm) {
    Communicator twin = comm.dup();
    EXPECT_EQ(twin.num_ranks(), 2);
    EXPECT_EQ(twin.rank(), comm.rank());
    const int other = 1 - comm.rank();
    int heard = -1;
    comm.send_receive(one(other), other, one(heard), other);
    EXPECT_EQ(heard, comm.rank());
    std::vector<Request> requests(2);
    requests.push_back(twin.ireceive(one(heard), other));
    requests.push_back(comm.ibarrier());
    EXPECT_EQ(wait_any(requests), 3U);
    comm.barrier();
    twin.send(one(other), other);
    EXPECT_EQ(wait_any(requests), 2U);
    EXPECT_EQ(wait_any(requests), std::nullopt);
    requests.push_back(comm.ibarrier());
    while (!test_all(requests)) std::this_thread::yield();
  });
}

TEST(Cpp, EndsGroupsWithTheirScope) {
  run_members(3, [](Communicator& comm) {
    const int right = (comm.rank() + 1) % 3;
    const int left = (comm.rank() + 2) % 3;
    const Ints mine(10000, comm.rank());
    Ints from_left(mine.size());
    Ints from_right(mine.size());
    {
      const Group group;
      comm.receive(from_left, left);
      comm.receive(from_right, right);
      comm.send(mine, left);
      comm.send(mine, right);
    }
    EXPECT_EQ(from_left, Ints(mine.size(), left));
    EXPECT_EQ(from_right, Ints(mine.size(), right));
  });
}

TEST(Cpp, ThrowsWhatWentWrongWhereAGroupEnds) {
  run_members(2, [](Communicator& comm) {
    Ints three(3);
    Ints four(4);
    int turn = 0;
    const std::string words = words_thrown(
        [&] {
          if (comm.rank() == 1) {
            comm.receive(one(turn), 0);
            comm.send(four, 0);
            for (;;) comm.barrier();
          }
          const Group group;
          comm.receive(three, 1);
          comm.send(one(turn), 1);
        },
        Result::invalid_usage);
    if (comm.rank() == 0) {
      // Where this rank is slow, within the group.
      EXPECT_TRUE(words.find("group: ") == 0 || words.find("send: ") == 0) << words;
    }
    // An exception that is on its way already is not met by another.
    EXPECT_THROW(
        {
          const Group group;
          throw std::runtime_error("of the program");
        },
        std::runtime_error);
    EXPECT_NE(comm.async_error(), Result::success);
  });
}

TEST(Cpp, SaysWhoIsGone) {
  run_members(2, [](Communicator& comm) {
    if (comm.rank() == 0) {
      comm.abort();
      return;
    }
    EXPECT_THROW(for (;;) comm.barrier(), RemoteError);
    EXPECT_EQ(comm.async_error(), Result::remote_error);
  });
}

TEST(Cpp, ReducesInSymmetricMemory) {
  run_members(2, [](Communicator& comm) {
    SymmetricMemory<float> memory = comm.allocate<float>(1 << 14);
    EXPECT_EQ(std::accumulate(memory.begin(), memory.end(), 0.0F), 0);
    for (float& each : memory.span()) each = static_cast<float>(comm.rank());
    comm.all_reduce(memory, Op::sum);
    EXPECT_EQ(memory[memory.size() - 1], 1);
    const SymmetricMemory<float> moved = std::move(memory);
    EXPECT_EQ(moved.size(), 1U << 14);
    const std::vector<Statistic> ran = comm.statistics();
    ASSERT_EQ(ran.size(), 1U);
    EXPECT_EQ(ran[0].operation, "all_reduce");
    EXPECT_EQ(ran[0].reach, "symmetric");
    EXPECT_EQ(ran[0].bytes, std::uint64_t{4} << 14);
  });
}

// As tutti.h says of bits; also where some ranks call in place and others not.
TEST(Cpp, ReducesToTheSameBitsHoweverItIsCalled) {
  for (const std::size_t count : {1U, 1000U, 9000U, 70'000U})
    run_members(3, [count](Communicator& comm) {
      std::mt19937 random(static_cast<unsigned>(comm.rank()));
      std::uniform_real_distribution<float> numbers(-1000, 1000);
      std::vector<float> mine(count);
      for (float& each : mine) each = numbers(random);
      std::vector<float> expected(count);
      comm.all_reduce(mine, expected, Op::sum);
      std::vector<float> all(3 * count);
      comm.all_gather(expected, all);
      for (std::size_t each = 0; each < all.size(); ++each) ASSERT_EQ(all[each], expected[each % count]);
      std::vector<float> sum(count);
      comm.iall_reduce(mine, sum, Op::sum).wait();
      EXPECT_EQ(sum, expected);
      std::vector<float> grouped(count);
      {
        const Group group;
        comm.all_reduce(mine, grouped, Op::sum);
      }
      EXPECT_EQ(grouped, expected);
      sum = mine;
      if (comm.rank() == 0) {
        comm.all_reduce(sum, Op::sum);
      } else {
        comm.all_reduce(mine, sum, Op::sum);
      }
      EXPECT_EQ(sum, expected);
      SymmetricMemory<float> memory = comm.allocate<float>(count);
      std::copy(mine.begin(), mine.end(), memory.begin());
      comm.all_reduce(memory, Op::sum);
      EXPECT_TRUE(std::equal(memory.begin(), memory.end(), expected.begin()));
    });
}

TEST(Cpp, SplitsAndTakesAConfig) {
  run_members(
      3,
      [](Communicator& comm) {
        int value = 1;
        comm.all_reduce(one(value), Op::sum);
        EXPECT_EQ(std::string(comm.algorithm("all_reduce", &value, &value, 1).name), "ring");
        Communicator part = comm.split(comm.rank() == 2 ? kNoColor : 0, -comm.rank(),
                                       Config{{"TUTTI_ALLREDUCE_ALGORITHM=recursive_doubling", "TUTTI_SPIN=1us"}});
        EXPECT_EQ(static_cast<bool>(part), comm.rank() != 2);
        if (!part) return;
        EXPECT_EQ(part.rank(), 1 - comm.rank());
        part.all_reduce(one(value), Op::sum);
        EXPECT_EQ(value, 6);
        EXPECT_EQ(part.statistics().at(0).algorithm, "recursive_doubling");
        part.finalize();
        comm = std::move(part);
        EXPECT_EQ(comm.num_ranks(), 2);
      },
      Config{{"TUTTI_ALLREDUCE_ALGORITHM=ring"}});
  EXPECT_EQ(
      words_thrown([] { const Communicator comm = Communicator::join(make_unique_id(), 1, 0, Config{{"TUTTI_SPIN"}}); },
                   Result::invalid_argument),
      "join: config.variables has \"TUTTI_SPIN\", which is not NAME=VALUE");
}

}  // namespace
}  // namespace tutti::test
