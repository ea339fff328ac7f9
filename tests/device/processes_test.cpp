// SPDX-License-Identifier: Apache-2.0
// Ranks that are processes, with device memory that they share by descriptor. Here they have one device between them,
// which runs them in turns of milliseconds: so this says that data are right, and nothing of times.
//
// CUDA does not survive a fork, so this process never touches it; a rank without a device says so by how it ends.
#include <array>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device/cuda/device_rank.hpp"
#include "on_device.hpp"

namespace tutti::device {
namespace {

constexpr int kNoDevice = 77;

// Bytes and a descriptor in one message.
bool send_all(int socket, std::span<const std::byte> bytes, std::span<const int> descriptors) {
  iovec part = {const_cast<std::byte*>(bytes.data()), bytes.size()};
  std::vector<std::byte> control(CMSG_SPACE(descriptors.size_bytes()));
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(descriptors.size_bytes());
  std::memcpy(CMSG_DATA(header), descriptors.data(), descriptors.size_bytes());
  return sendmsg(socket, &message, MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size());
}
bool receive_all(int socket, std::span<std::byte> bytes, std::vector<int>& descriptors, std::size_t number) {
  iovec part = {bytes.data(), bytes.size()};
  descriptors.resize(number);
  std::vector<std::byte> control(CMSG_SPACE(number * sizeof(int)));
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) != static_cast<ssize_t>(bytes.size())) return false;
  const cmsghdr* header = CMSG_FIRSTHDR(&message);
  if (header == nullptr || header->cmsg_len != CMSG_LEN(number * sizeof(int))) return false;
  std::memcpy(descriptors.data(), CMSG_DATA(header), number * sizeof(int));
  return true;
}

// Every message has so many bytes, and a descriptor, which may mean nothing.
constexpr std::size_t kMessage = 1024;

class SocketRendezvous : public Rendezvous {
 public:
  SocketRendezvous(int socket, std::uint32_t rank, std::uint32_t num_ranks)
      : socket_(socket), rank_(rank), num_ranks_(num_ranks) {}
  [[nodiscard]] std::uint32_t rank() const override { return rank_; }
  [[nodiscard]] std::uint32_t num_ranks() const override { return num_ranks_; }

  Status exchange(std::span<const std::byte> own, std::span<std::byte> all) override {
    std::vector<UniqueFd> descriptors;
    TUTTI_TRY(exchange(own, socket_, descriptors));
    for (std::uint32_t rank = 0; rank < num_ranks_; ++rank)
      std::copy_n(all_.data() + rank * kMessage, own.size(), all.data() + rank * own.size());
    return {};
  }
  Status exchange(int own, std::vector<UniqueFd>& all) override {
    TUTTI_TRY(exchange(std::span<const std::byte>(), own, all));
    all[rank_].reset();
    return {};
  }

 private:
  Status exchange(std::span<const std::byte> own, int descriptor, std::vector<UniqueFd>& descriptors) {
    std::vector<std::byte> padded(kMessage);
    std::copy(own.begin(), own.end(), padded.begin());
    all_.resize(kMessage * num_ranks_);
    std::vector<int> got;
    if (!send_all(socket_, padded, std::array{descriptor}) || !receive_all(socket_, all_, got, num_ranks_))
      return {Code::rank_lost, "a rank has not come to the rendezvous"};
    descriptors.clear();
    for (const int each : got) descriptors.emplace_back(each);
    return {};
  }

  int socket_;
  std::uint32_t rank_;
  std::uint32_t num_ranks_;
  std::vector<std::byte> all_;
};

// Where all ranks' messages meet: this process, until a rank has ended.
void host_rendezvous(std::span<const int> sockets) {
  for (;;) {
    std::vector<std::byte> all(kMessage * sockets.size());
    std::vector<int> descriptors;
    bool are_there = true;
    for (std::size_t rank = 0; are_there && rank < sockets.size(); ++rank) {
      std::vector<int> one;
      are_there = receive_all(sockets[rank], std::span(all).subspan(rank * kMessage, kMessage), one, 1);
      if (are_there) descriptors.push_back(one[0]);
    }
    for (const int socket : sockets) are_there = are_there && send_all(socket, all, descriptors);
    for (const int descriptor : descriptors) close(descriptor);
    if (!are_there) return;
  }
}

using Body = std::function<void(std::unique_ptr<Rendezvous> rendezvous)>;

class DeviceProcesses : public testing::Test {
 protected:
  // Every rank runs `body` in a process of its own; expectations that fail there fail here.
  static void run(std::uint32_t num_ranks, const Body& body) {
    std::vector<int> sockets;
    std::vector<pid_t> children;
    for (std::uint32_t rank = 0; rank < num_ranks; ++rank) {
      std::array<int, 2> ends = {};
      ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
      const pid_t child = fork();
      if (child == 0) be_rank(rank, num_ranks, ends[1], body);
      close(ends[1]);
      sockets.push_back(ends[0]);
      children.push_back(child);
    }
    host_rendezvous(sockets);
    for (const int socket : sockets) close(socket);
    bool has_device = true;
    for (std::uint32_t rank = 0; rank < num_ranks; ++rank) {
      int status = 0;
      ASSERT_EQ(waitpid(children[rank], &status, 0), children[rank]);
      has_device = has_device && !(WIFEXITED(status) && WEXITSTATUS(status) == kNoDevice);
      EXPECT_TRUE(!has_device || (WIFEXITED(status) && WEXITSTATUS(status) == 0)) << "rank " << rank;
    }
    if (!has_device) GTEST_SKIP() << "there is no CUDA device";
  }

 private:
  [[noreturn]] static void be_rank(std::uint32_t rank, std::uint32_t num_ranks, int socket, const Body& body) {
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) _exit(kNoDevice);
    body(std::make_unique<SocketRendezvous>(socket, rank, num_ranks));
    std::fflush(nullptr);
    _exit(HasFailure() ? 1 : 0);
  }
};

const LoadedSchedule* load(DeviceRank& rank, const char* name, std::uint32_t num_ranks) {
  const Algorithm* algorithm = find_algorithm(Collective::all_reduce, name);
  return rank.schedules().load(*algorithm, {.collective = Collective::all_reduce, .num_ranks = num_ranks}).value();
}

void expect_right(DeviceRank& ranks, std::uint32_t rank, std::uint32_t num_ranks, const LoadedSchedule* loaded,
                  std::byte* input, std::byte* output, Type type, std::uint64_t count, bool generic) {
  Exact exact;
  const ExactInput given = {type, Op::sum, static_cast<int>(num_ranks), count};
  exact.fill(given, rank, 0, count, input);
  const DeviceCall call = {.schedule = loaded,
                           .count = count,
                           .op = exact_operator(given, 0),
                           .in_place = input == output,
                           .generic = generic};
  const std::uint64_t bytes = count * size_of(type);
  const Status started = ranks.call(call, {input, output}, {bytes, bytes}, nullptr);
  ASSERT_TRUE(started.ok()) << started.to_string();
  expect_cuda(cudaStreamSynchronize(nullptr));
  ASSERT_TRUE(ranks.check().ok()) << ranks.check().to_string();
  EXPECT_EQ(exact.wrong(given, {}, 0, count, output), 0U)
      << loaded->schedule().name << " of " << count << " " << name_of(type) << ", rank " << rank;
}

TEST_F(DeviceProcesses, AllReducesAreRightInSharedMemory) {
  for (const std::uint32_t num_ranks : {2U, 3U})
    run(num_ranks, [num_ranks](std::unique_ptr<Rendezvous> rendezvous) {
      const std::uint32_t rank = rendezvous->rank();
      auto made = DeviceRank::create({.timeout = 20, .channels = 16}, std::move(rendezvous));
      ASSERT_TRUE(made.ok()) << made.status().to_string();
      DeviceRank& own = **made;
      constexpr std::uint64_t kMost = 100000;
      // Nothing lies at the same address in any two ranks.
      std::vector<std::unique_ptr<DeviceBytes>> others;
      for (std::uint32_t each = 0; each <= rank; ++each) others.push_back(std::make_unique<DeviceBytes>(kMost * 4));
      const DeviceBytes apart(kMost * 4);
      std::byte* input = own.allocate(kMost * 4).value();
      std::byte* output = own.allocate(kMost * 4).value();
      for (const char* name : {"one_shot", "two_shot", "two_shot_pull"}) {
        const LoadedSchedule* loaded = load(own, name, num_ranks);
        for (const std::uint64_t count : {std::uint64_t{1}, std::uint64_t{1001}, kMost})
          for (const bool generic : {false, true}) {
            expect_right(own, rank, num_ranks, loaded, input, output, Type::f32, count, generic);
            expect_right(own, rank, num_ranks, loaded, output, output, Type::bf16, count, generic);
            // Not symmetric: by way of slots.
            if (!loaded->is_by_name(false, false))
              expect_right(own, rank, num_ranks, loaded, others[rank]->data(), apart.data(), Type::f32, count, generic);
            if (HasFailure()) return;
          }
      }
    });
}

TEST_F(DeviceProcesses, ARankWhoseProcessDiesIsNamedAfterTheTimeOut) {
  run(2, [](std::unique_ptr<Rendezvous> rendezvous) {
    auto made = DeviceRank::create({.timeout = 1, .channels = 4}, std::move(rendezvous));
    ASSERT_TRUE(made.ok()) << made.status().to_string();
    std::byte* buffer = (*made)->allocate(4000).value();
    if ((*made)->rank() == 1) _exit(0);
    const DeviceCall call = {load(**made, "one_shot", 2), 1000, {.op = Op::sum, .type = Type::f32}, true};
    ASSERT_TRUE((*made)->call(call, {buffer, buffer}, {4000, 4000}, nullptr).ok());
    expect_cuda(cudaStreamSynchronize(nullptr));
    EXPECT_EQ((*made)->check().code(), Code::timeout) << (*made)->check().to_string();
    EXPECT_EQ((*made)->check().rank(), 1);
    made->reset();
    const DeviceBytes still(4000);
    still.poison();
  });
}

TEST_F(DeviceProcesses, RanksThatDifferAreToldWhoDiffers) {
  run(2, [](std::unique_ptr<Rendezvous> rendezvous) {
    const std::uint32_t rank = rendezvous->rank();
    const auto made = DeviceRank::create({.slots_bytes = (4U + rank) << 16U}, std::move(rendezvous));
    ASSERT_FALSE(made.ok());
    EXPECT_EQ(made.status().code(), Code::invalid_usage) << made.status().to_string();
    EXPECT_EQ(made.status().rank(), static_cast<int>(1 - rank));
  });
}

TEST_F(DeviceProcesses, WhatOneRankIsRefusedAllAreTold) {
  run(2, [](std::unique_ptr<Rendezvous> rendezvous) {
    auto made = DeviceRank::create({.channels = 4}, std::move(rendezvous));
    ASSERT_TRUE(made.ok()) << made.status().to_string();
    DeviceRank& own = **made;
    // More than any device has, on one of them.
    const Status nothing = own.allocate(own.rank() == 0 ? 0 : 4096).status();
    EXPECT_EQ(nothing.code(), Code::invalid_argument) << nothing.to_string();
    const Status refused = own.allocate(own.rank() == 0 ? std::uint64_t{1} << 60U : 4096).status();
    EXPECT_EQ(refused.code(), Code::system) << refused.to_string();
    const Status differ = own.allocate((own.rank() + 1) * 4096).status();
    EXPECT_EQ(differ.code(), Code::invalid_usage) << differ.to_string();
    // Memory that no process can lend is not to be had, nor memory of two kinds, and the ranks go on.
    void* managed = nullptr;
    expect_cuda(cudaMallocManaged(&managed, 4096));
    const Status alien = own.enroll(managed, 4096);
    EXPECT_EQ(alien.code(), Code::unsupported) << alien.to_string();
    const SharedMemory shared = SharedMemory::make(0, 4096).value();
    AddressRange range = AddressRange::reserve(0, shared.bytes()).value();
    ASSERT_TRUE(range.map(0, shared).ok());
    const DeviceBytes apart(4096);
    const Status mixed = own.enroll(own.rank() == 0 ? apart.data() : range.base(), 4096);
    EXPECT_EQ(mixed.code(), Code::invalid_usage) << mixed.to_string();
    std::byte* const first = own.allocate(4096).value();
    std::byte* const second = own.allocate(3 << 20U).value();
    EXPECT_EQ(own.release(second + 1).code(), Code::invalid_argument);
    EXPECT_EQ(own.release(own.rank() == 0 ? first : second).code(), Code::invalid_usage);
    EXPECT_TRUE(own.release(first).ok());
    EXPECT_EQ(own.allocate(4096).value(), first) << "freed addresses are not taken again";
  });
}

// A buffer of the program, made symmetric and given back, twice, beside memory that was allocated as such.
void expect_enrolled(DeviceRank& own, std::byte* enrolled, std::uint64_t bytes) {
  const std::uint32_t rank = own.rank();
  std::byte* const allocated = own.allocate(bytes).value();
  for (int time = 0; time < 2; ++time) {
    const Status status = own.enroll(enrolled, bytes);
    ASSERT_TRUE(status.ok()) << status.to_string();
    EXPECT_EQ(own.enroll(enrolled, bytes).code(), Code::invalid_usage);
    for (const char* name : {"one_shot", "two_shot"}) {
      const LoadedSchedule* loaded = load(own, name, own.num_ranks());
      expect_right(own, rank, own.num_ranks(), loaded, enrolled, allocated, Type::f32, bytes / 4, false);
      expect_right(own, rank, own.num_ranks(), loaded, allocated, enrolled, Type::bf16, bytes / 2, true);
      expect_right(own, rank, own.num_ranks(), loaded, enrolled, enrolled, Type::f32, 1001, true);
    }
    // Beyond its end nobody may reach.
    const CallBytes beyond = {bytes, bytes};
    EXPECT_EQ(own.is_symmetric({enrolled + 4, enrolled + 4}, beyond).status().code(), Code::invalid_argument);
    ASSERT_TRUE(own.release(enrolled).ok());
    EXPECT_FALSE(own.is_symmetric({enrolled, enrolled}, beyond).value());
  }
}

// Memory that the program has got by itself, of other sizes and at other places on each rank.
TEST_F(DeviceProcesses, EnrolledMemoryIsReachedWhereItLies) {
  run(2, [](std::unique_ptr<Rendezvous> rendezvous) {
    const std::uint32_t rank = rendezvous->rank();
    auto made = DeviceRank::create({.timeout = 20, .channels = 16}, std::move(rendezvous));
    ASSERT_TRUE(made.ok()) << made.status().to_string();
    DeviceRank& own = **made;
    const SharedMemory memory = SharedMemory::make(0, (2 + 4 * rank) << 20U).value();
    AddressRange range = AddressRange::reserve(0, memory.bytes()).value();
    ASSERT_TRUE(range.map(0, memory).ok());
    expect_enrolled(own, range.base() + (rank + 1) * std::size_t{65536}, 400000);
  });
}

TEST_F(DeviceProcesses, MemoryOfCudaMallocIsReachedWhereItLies) {
  for (const std::uint32_t num_ranks : {2U, 3U})
    run(num_ranks, [](std::unique_ptr<Rendezvous> rendezvous) {
      const std::uint32_t rank = rendezvous->rank();
      auto made = DeviceRank::create({.timeout = 20, .channels = 16}, std::move(rendezvous));
      ASSERT_TRUE(made.ok()) << made.status().to_string();
      DeviceRank& own = **made;
      const DeviceBytes memory((4 + rank) << 20U);
      expect_enrolled(own, memory.data() + (rank + 1) * std::size_t{65536}, 400000);
      // Two buffers of one allocation, and the second outlives the first.
      ASSERT_TRUE(own.enroll(memory.data(), 65536).ok());
      ASSERT_TRUE(own.enroll(memory.data() + 65536, 65536).ok());
      ASSERT_TRUE(own.release(memory.data()).ok());
      const LoadedSchedule* loaded = load(own, "two_shot", own.num_ranks());
      expect_right(own, rank, own.num_ranks(), loaded, memory.data() + 65536, memory.data() + 65536, Type::f32, 5000,
                   false);
    });
}

// Small ones share a page of the device with others, so a rank must know where in the page its own is.
TEST_F(DeviceProcesses, SmallMemoryOfCudaMallocIsReachedWhereItLies) {
  run(3, [](std::unique_ptr<Rendezvous> rendezvous) {
    const std::uint32_t rank = rendezvous->rank();
    auto made = DeviceRank::create({.timeout = 20, .channels = 16}, std::move(rendezvous));
    ASSERT_TRUE(made.ok()) << made.status().to_string();
    const DeviceBytes before(1000 * (rank + 1));
    const DeviceBytes memory(20000);
    expect_enrolled(**made, memory.data(), 20000);
    EXPECT_EQ((*made)->enroll(memory.data() + 100, 20000).code(), Code::invalid_argument);
  });
}

TEST_F(DeviceProcesses, WhatNeedsSymmetricMemorySaysSo) {
  run(2, [](std::unique_ptr<Rendezvous> rendezvous) {
    auto made = DeviceRank::create({.channels = 4}, std::move(rendezvous));
    ASSERT_TRUE(made.ok()) << made.status().to_string();
    const DeviceBytes apart(4000);
    const DeviceCall call = {load(**made, "two_shot", 2), 1000, {.op = Op::sum, .type = Type::f32}, true};
    const Status status = (*made)->call(call, {apart.data(), apart.data()}, {4000, 4000}, nullptr);
    EXPECT_EQ(status.code(), Code::unsupported);
    EXPECT_NE(status.message().find("symmetric memory"), std::string::npos) << status.to_string();
  });
}

}  // namespace
}  // namespace tutti::device
