// SPDX-License-Identifier: Apache-2.0
// Times all-reduce of Open MPI the way the OSU micro-benchmarks do, for benches/harness to compare with: iterations
// behind a barrier, each rank's mean, and the average of that over ranks. Arguments are sizes in bytes, of f32; prints
// one line a size: bytes, microseconds.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <mpi.h>

namespace {

constexpr int kLarge = 8192;  // bytes from which fewer iterations do

double average_of_ranks(int count) {
  const bool is_large = count * static_cast<int>(sizeof(float)) > kLarge;
  const int iterations = is_large ? 100 : 1000;
  const int untimed = is_large ? 10 : 200;
  std::vector<float> mine(static_cast<std::size_t>(count), 1.0F);
  std::vector<float> sum(static_cast<std::size_t>(count), 0.0F);
  double timer = 0;
  for (int each = 0; each < iterations + untimed; ++each) {
    const double begin = MPI_Wtime();
    MPI_Allreduce(mine.data(), sum.data(), count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    const double end = MPI_Wtime();
    if (each >= untimed) timer += end - begin;
    MPI_Barrier(MPI_COMM_WORLD);
  }
  double mean = timer * 1e6 / iterations;
  double all = 0;
  int num_ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &num_ranks);
  MPI_Allreduce(&mean, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return all / num_ranks;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int each = 1; each < argc; ++each) {
    const int bytes = std::atoi(argv[each]);
    const double micros = average_of_ranks(bytes / static_cast<int>(sizeof(float)));
    if (rank == 0) std::printf("%d %.3f\n", bytes, micros);
  }
  MPI_Finalize();
  return 0;
}
