// SPDX-License-Identifier: Apache-2.0
/* Every rank has a vector; afterwards every rank has the sum of all of them.
 *
 *   tutti launch -n 4 -- ./all_reduce */
#include <stdio.h>

#include <tutti/tutti.h>

#define CHECK(call)                                              \
  do {                                                           \
    if ((call) == tuttiSuccess) break;                           \
    fprintf(stderr, "%s: %s\n", #call, tuttiGetLastError(NULL)); \
    return 1;                                                    \
  } while (0)

enum { num_elements = 1000 };

int main(void) {
  tuttiComm_t comm = NULL;
  int rank = 0;
  int num_ranks = 0;
  CHECK(tuttiCommInitLaunched(&comm));
  CHECK(tuttiCommUserRank(comm, &rank));
  CHECK(tuttiCommCount(comm, &num_ranks));

  float mine[num_elements];
  float sum[num_elements];
  for (int i = 0; i < num_elements; ++i) mine[i] = (float)(i + rank);
  CHECK(tuttiAllReduce(mine, sum, num_elements, tuttiFloat, tuttiSum, comm));

  /* Small whole numbers, so the sum is exact in any order. */
  const int ranks_added = num_ranks * (num_ranks - 1) / 2;
  for (int i = 0; i < num_elements; ++i)
    if (sum[i] != (float)(num_ranks * i + ranks_added)) return 1;
  if (rank == 0)
    printf("ranks: %d, elements: %d, the last one is %g\n", num_ranks, num_elements, (double)sum[num_elements - 1]);
  CHECK(tuttiCommDestroy(comm));
  return 0;
}
