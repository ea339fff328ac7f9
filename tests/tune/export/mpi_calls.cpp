// SPDX-License-Identifier: Apache-2.0
// Calls every collective with each count of its arguments, and says which calls fail: a library that follows rules with
// an algorithm that it has not says so. Built once for each MPI.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <utility>
#include <vector>

#include <mpi.h>

namespace {

using Call = std::function<int(int count)>;

std::vector<std::pair<const char*, Call>> all_calls(int* in, int* out) {
  const MPI_Comm world = MPI_COMM_WORLD;
  return {
      {"all_reduce", [=](int n) { return MPI_Allreduce(in, out, n, MPI_INT, MPI_SUM, world); }},
      {"all_gather", [=](int n) { return MPI_Allgather(in, n, MPI_INT, out, n, MPI_INT, world); }},
      {"reduce_scatter", [=](int n) { return MPI_Reduce_scatter_block(in, out, n, MPI_INT, MPI_SUM, world); }},
      {"broadcast", [=](int n) { return MPI_Bcast(in, n, MPI_INT, 0, world); }},
      {"reduce", [=](int n) { return MPI_Reduce(in, out, n, MPI_INT, MPI_SUM, 0, world); }},
      {"all_to_all", [=](int n) { return MPI_Alltoall(in, n, MPI_INT, out, n, MPI_INT, world); }},
      {"gather", [=](int n) { return MPI_Gather(in, n, MPI_INT, out, n, MPI_INT, 0, world); }},
      {"scatter", [=](int n) { return MPI_Scatter(in, n, MPI_INT, out, n, MPI_INT, 0, world); }},
      {"scan", [=](int n) { return MPI_Scan(in, out, n, MPI_INT, MPI_SUM, world); }},
      {"exclusive_scan", [=](int n) { return MPI_Exscan(in, out, n, MPI_INT, MPI_SUM, world); }},
      {"barrier", [=](int) { return MPI_Barrier(world); }},
  };
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  static std::array<int, 1U << 16U> in{};
  static std::array<int, 1U << 16U> out{};
  for (const auto& [name, call] : all_calls(in.data(), out.data()))
    for (int argument = 1; argument < argc; ++argument) {
      const int count = std::atoi(argv[argument]);
      const bool is_done = call(count) == MPI_SUCCESS;
      if (rank == 0) std::printf("%s %d %s\n", name, count, is_done ? "done" : "failed");
      std::fflush(stdout);
    }
  MPI_Finalize();
}
