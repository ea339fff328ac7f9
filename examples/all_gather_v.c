// SPDX-License-Identifier: Apache-2.0
/* Every rank has a few numbers, each rank another count of them; afterwards every rank has all of them.
 *
 *   tutti launch -n 4 -- ./all_gather_v */
#include <stdio.h>
#include <stdlib.h>

#include <tutti/tutti.h>

enum { most_ranks = 64 };

static void check(tuttiResult_t result, const char* call) {
  if (result == tuttiSuccess) return;
  fprintf(stderr, "%s: %s: %s\n", call, tuttiGetErrorString(result), tuttiGetLastError(NULL));
  exit(1);
}

int main(void) {
  tuttiComm_t comm = NULL;
  check(tuttiCommInitLaunched(&comm), "tuttiCommInitLaunched");
  int rank = 0;
  int num_ranks = 0;
  check(tuttiCommUserRank(comm, &rank), "tuttiCommUserRank");
  check(tuttiCommCount(comm, &num_ranks), "tuttiCommCount");
  if (num_ranks > most_ranks) {
    fprintf(stderr, "%d ranks are more than %d\n", num_ranks, most_ranks);
    return 1;
  }

  /* Rank r has r + 1 numbers: 100 r, 100 r + 1, ... */
  size_t counts[most_ranks];
  size_t total = 0;
  for (int each = 0; each < num_ranks; ++each) {
    counts[each] = (size_t)each + 1;
    total += counts[each];
  }
  int mine[most_ranks];
  int all[most_ranks * (most_ranks + 1) / 2];
  for (int i = 0; i <= rank; ++i) mine[i] = 100 * rank + i;
  check(tuttiAllGatherV(mine, (size_t)rank + 1, all, counts, NULL, tuttiInt, comm), "tuttiAllGatherV");

  const int* next = all;
  for (int each = 0; each < num_ranks; ++each)
    for (int i = 0; i <= each; ++i, ++next)
      if (*next != 100 * each + i) {
        fprintf(stderr, "rank %d has %d where %d should be\n", rank, *next, 100 * each + i);
        return 1;
      }

  /* Counts that contradict each other are an error everywhere, and the communicator goes on. */
  if (rank == 0) ++counts[num_ranks - 1];
  const tuttiResult_t result = tuttiAllGatherV(mine, (size_t)rank + 1, all, counts, NULL, tuttiInt, comm);
  if (rank == 0) {
    printf("ranks: %d, numbers: %zu, the last one is %d\n", num_ranks, total, next[-1]);
    printf("with a wrong count: %s\n", tuttiGetLastError(comm));
  }
  check(tuttiCommDestroy(comm), "tuttiCommDestroy");
  return result == tuttiInvalidUsage ? 0 : 1;
}
