// SPDX-License-Identifier: Apache-2.0
/* For SMPI: how long an all-reduce of each count of ints that is given takes, which all ranks begin at the same time:
 * one count a second of virtual time. Each rank prints "count seconds". */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int second = 1; second < argc; ++second) {
    const int count = atoi(argv[second]);
    int* in = malloc(sizeof(int) * count);
    int* out = malloc(sizeof(int) * count);
    for (int k = 0; k < count; ++k) in[k] = k;
    const struct timespec rest = {0, (long)((second - MPI_Wtime()) * 1e9)};
    nanosleep(&rest, NULL);
    MPI_Allreduce(in, out, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    printf("%d %.12f\n", count, MPI_Wtime() - second);
    for (int k = 0; k < count; ++k)
      if (out[k] != size * k) MPI_Abort(MPI_COMM_WORLD, 1);
    free(in);
    free(out);
  }
  MPI_Finalize();
  return 0;
}
