// SPDX-License-Identifier: Apache-2.0
// Programs of the C++ API that throw while another rank waits for them.
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "processes.hpp"
#include <tutti/tutti.hpp>

namespace tutti::test {
namespace {

using Floats = std::vector<float>;

// Of two ranks, where both begin `body` with a communicator and rank 0 receives from rank 1 at its end, if it gets
// there.
std::vector<std::string> run_program(const std::function<void(Communicator& comm, Floats& data)>& body) {
  return run_processes(
      2,
      [&](const UniqueId& id, int rank) -> std::string {
        Communicator comm = Communicator::join(id, 2, rank);
        Floats data(1000);
        body(comm, data);
        return "done";
      },
      30);
}

void expect_both_to_hear(const std::vector<std::string>& said) {
  EXPECT_EQ(said[1], "threw: user");
  EXPECT_TRUE(contains(said[0], "threw: receive: ") && contains(said[0], "rank 1 aborted the communicator")) << said[0];
}

TEST(Unwinding, OfSymmetricMemoryAborts) {
  expect_both_to_hear(run_program([](Communicator& comm, Floats& data) {
    auto memory = comm.allocate<float>(1000);
    if (comm.rank() == 1) throw std::runtime_error("user");
    comm.receive(data, 1);
  }));
}

TEST(Unwinding, OfARequestAborts) {
  expect_both_to_hear(run_program([](Communicator& comm, Floats& data) {
    if (comm.rank() == 1) {
      const Request request = comm.iall_reduce(data, Floats(data.size()), Op::sum);
      throw std::runtime_error("user");
    }
    comm.receive(data, 1);
  }));
}

TEST(Unwinding, OfAPersistentRequestAborts) {
  expect_both_to_hear(run_program([](Communicator& comm, Floats& data) {
    if (comm.rank() == 1) {
      PersistentRequest request = comm.receive_init(data, 0);
      request.start();
      throw std::runtime_error("user");
    }
    comm.receive(data, 1);
  }));
}

TEST(Unwinding, OfACommunicatorAborts) {
  expect_both_to_hear(run_program([](Communicator& comm, Floats& data) {
    if (comm.rank() == 0) {
      comm.receive(data, 1);
      return;
    }
    // Nobody holds this request, so the communicator itself would wait for it.
    tuttiRequest_t request = nullptr;
    tuttiIRecv(data.data(), data.size(), tuttiFloat, 0, comm.raw(), &request);
    throw std::runtime_error("user");
  }));
}

TEST(Unwinding, OfAGroupAborts) {
  expect_both_to_hear(run_program([](Communicator& comm, Floats& data) {
    if (comm.rank() == 1) {
      const Group group;
      comm.receive(data, 0);
      throw std::runtime_error("user");
    }
    comm.receive(data, 1);
  }));
}

TEST(Unwinding, OfEndedRequestsKeepsTheCommunicator) {
  const std::vector<std::string> said = run_program([](Communicator& comm, Floats& data) {
    Floats all(2 * data.size());
    try {
      PersistentRequest idle = comm.receive_init(data, 1 - comm.rank());
      Request ended = comm.iall_gather(data, all);
      comm.barrier();  // behind it
      throw std::runtime_error("user");
    } catch (const std::runtime_error&) {
    }
    comm.barrier();
  });
  EXPECT_EQ(said, (std::vector<std::string>{"done", "done"}));
}

}  // namespace
}  // namespace tutti::test
