// SPDX-License-Identifier: Apache-2.0
// A program whose calls record_test.cpp knows: ranks that call collectives in every way there is.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <unistd.h>

#include <tutti/tutti.h>

namespace {

void check(tuttiResult_t result) {
  if (result == tuttiSuccess) return;
  std::fprintf(stderr, "%s\n", tuttiGetLastError(nullptr));
  std::_Exit(3);
}

}  // namespace

// Not inlined and not hidden, so that call sites have its name.
extern "C" __attribute__((noinline, visibility("default"))) void step(float* data, tuttiComm_t comm) {
  for (int call = 0; call < 1000; ++call) check(tuttiAllReduce(data, data, 2, tuttiFloat32, tuttiSum, comm));
  for (int call = 0; call < 7; ++call) check(tuttiBroadcast(data, data, 100, tuttiFloat32, 1, comm));
}

namespace {

void call_in_every_way(std::vector<float>& from, std::vector<float>& to, int num_ranks, int rank, tuttiComm_t comm) {
  constexpr int kPending = 4;
  for (int turn = 0; turn < 5; ++turn) {
    tuttiRequest_t requests[kPending];
    for (int each = 0; each < kPending; ++each)
      check(tuttiIAllGather(from.data(), to.data() + each * 100, 10, tuttiFloat32, comm, &requests[each]));
    check(tuttiWaitAll(kPending, requests));
    check(tuttiGroupStart());
    check(tuttiAllReduce(from.data(), to.data(), 300, tuttiFloat32, tuttiMax, comm));
    check(tuttiAllReduce(from.data() + 300, to.data() + 300, 300, tuttiFloat32, tuttiMax, comm));
    check(tuttiGroupEnd());
  }
  tuttiRequest_t request = nullptr;
  check(tuttiReduceScatterInit(from.data(), to.data(), 50, tuttiFloat32, tuttiSum, comm, &request));
  for (int call = 0; call < 11; ++call) {
    check(tuttiStart(request));
    check(tuttiWait(&request));
  }
  check(tuttiRequestFree(&request));
  const int next = (rank + 1) % num_ranks;
  const int last = (rank + num_ranks - 1) % num_ranks;
  check(tuttiSendRecv(from.data(), 10, next, to.data(), 10, last, tuttiFloat32, comm));
  for (int call = 0; call < 3; ++call) check(tuttiBarrier(comm));
}

}  // namespace

// "dies": rank 1 ends without a word in the middle.
int main(int argc, char** argv) {
  tuttiComm_t comm = nullptr;
  int rank = 0;
  int num_ranks = 0;
  check(tuttiCommInitLaunched(&comm));
  check(tuttiCommUserRank(comm, &rank));
  check(tuttiCommCount(comm, &num_ranks));
  std::vector<float> from(4096, 1.0F);
  std::vector<float> to(4096);
  step(from.data(), comm);
  if (argc > 1 && std::strcmp(argv[1], "dies") == 0) {
    if (rank == 1) _exit(9);
    return tuttiAllReduce(from.data(), to.data(), 8, tuttiFloat32, tuttiSum, comm) == tuttiSuccess ? 0 : 4;
  }
  call_in_every_way(from, to, num_ranks, rank, comm);
  tuttiComm_t half = nullptr;
  check(tuttiCommSplit(comm, rank < 2 ? 0 : 1, rank, &half, nullptr));
  for (int call = 0; call < 9; ++call) check(tuttiAllReduce(from.data(), to.data(), 16, tuttiFloat32, tuttiSum, half));
  check(tuttiCommDestroy(half));
  // Rank 0's recording ends with the communicator, the others' with the process.
  if (rank == 0) check(tuttiCommDestroy(comm));
  return 0;
}
