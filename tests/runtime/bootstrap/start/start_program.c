// SPDX-License-Identifier: Apache-2.0
/* A rank, whoever started it: two communicators, one after the other, and a sum over each. Rank 0 says how many ranks
 * there were.
 *
 *   plain       no MPI
 *   mpi_before  MPI_Init comes first
 *   mpi_after   MPI_Init comes between the two
 *   leave       rank 0 ends at once, and the others say what they hear */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef WITH_MPI
#include <mpi.h>
#endif
#include <tutti/tutti.h>

static int failed(const char* call) {
  fprintf(stderr, "%s: %s\n", call, tuttiGetLastError(NULL));
  return 1;
}

static int sum_once(void) {
  tuttiComm_t comm = NULL;
  if (tuttiCommInitLaunched(&comm) != tuttiSuccess) return failed("tuttiCommInitLaunched");
  int rank = -1;
  int num_ranks = -1;
  tuttiCommUserRank(comm, &rank);
  tuttiCommCount(comm, &num_ranks);
  int mine = 1 << rank;
  int sum = 0;
  if (tuttiAllReduce(&mine, &sum, 1, tuttiInt32, tuttiSum, comm) != tuttiSuccess) return failed("tuttiAllReduce");
  tuttiCommDestroy(comm);
  if (sum != (1 << num_ranks) - 1) {
    fprintf(stderr, "the sum is %d\n", sum);
    return 1;
  }
  if (rank == 0) printf("%d ranks\n", num_ranks);
  return 0;
}

static int is_rank_0(void) {
  static const char* const names[] = {"PMI_RANK", "PMIX_RANK", "RANK", "TUTTI_RANK"};
  for (int i = 0; i < 4; ++i) {
    const char* rank = getenv(names[i]);
    if (rank != NULL) return strcmp(rank, "0") == 0;
  }
  return 0;
}

int main(int argc, char** argv) {
  const char* mode = argc > 1 ? argv[1] : "plain";
  if (strcmp(mode, "leave") == 0 && is_rank_0()) return 0;
#ifdef WITH_MPI
  if (strcmp(mode, "mpi_before") == 0) MPI_Init(&argc, &argv);
#endif
  if (sum_once() != 0) return 1;
#ifdef WITH_MPI
  if (strcmp(mode, "mpi_after") == 0) MPI_Init(&argc, &argv);
  int one = 1;
  int all = 0;
  MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  int rank = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) printf("%d ranks of MPI\n", all);
#endif
  if (sum_once() != 0) return 1;
#ifdef WITH_MPI
  MPI_Finalize();
#endif
  return 0;
}
