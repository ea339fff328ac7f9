// SPDX-License-Identifier: Apache-2.0
// How many connections two processes on different hosts have, by the variable that says so.
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "../ranks.hpp"
#include <tutti/tutti.h>

namespace tutti {
namespace {

// Sockets of this process that are connected over the network.
int num_connections() {
  int count = 0;
  for (int fd = 0; fd < 1024; ++fd) {
    sockaddr_storage peer{};
    socklen_t size = sizeof peer;
    if (getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &size) == 0 && peer.ss_family == AF_INET) ++count;
  }
  return count;
}

// The connections of a rank that has reduced long messages with another one, or what went wrong.
std::string connections_after_reducing(const UniqueId& id, int rank) {
  constexpr std::size_t kCount = 1 << 18;
  tuttiUniqueId raw{};
  std::memcpy(raw.internal, id.to_bytes().data(), sizeof raw.internal);
  tuttiComm_t comm = nullptr;
  if (tuttiCommInitRank(&comm, 2, raw, rank) != tuttiSuccess) return tuttiGetLastError(nullptr);
  std::vector<int> values(kCount, rank + 1);
  for (int turn = 0; turn < 4; ++turn)
    if (tuttiAllReduce(values.data(), values.data(), kCount, tuttiInt32, tuttiMax, comm) != tuttiSuccess)
      return tuttiGetLastError(nullptr);
  const std::string said = values == std::vector<int>(kCount, 2) ? fmt::format("{}", num_connections()) : "wrong";
  // Nobody leaves before the other has counted.
  tuttiBarrier(comm);
  tuttiCommDestroy(comm);
  return said;
}

int connections_with(const char* number) {
  test::Children children(2, [number](int rank, const UniqueId& id, const test::Children::Report& report) {
    setenv("TUTTI_HOST_ID", rank == 0 ? "here" : "there", 1);
    setenv("TUTTI_SOCKETS_PER_PEER", number, 1);
    report(connections_after_reducing(id, rank));
  });
  const auto server = test::start_server_on_network();
  children.release(server->id());
  const std::string said = children.line(1);
  EXPECT_FALSE(children.line(0).empty());
  char* end = nullptr;
  const long count = std::strtol(said.c_str(), &end, 10);
  EXPECT_TRUE(!said.empty() && *end == 0) << said;
  return static_cast<int>(count);
}

// Other connections, such as that of the watch, are the same ones.
TEST(ConnectionsOfProcesses, AreAsManyAsTheVariableSays) {
  const int with_one = connections_with("1");
  EXPECT_GE(with_one, 1);
  EXPECT_EQ(connections_with("3"), with_one + 2);
}

}  // namespace
}  // namespace tutti
