/* Every rank has a vector; afterwards every rank has the sum of all of them.
 *
 *   tutti launch -n 4 -- ./all_reduce */
#include <stdio.h>
#include <stdlib.h>

#include <tutti/tutti.h>

enum { num_elements = 1000 };

/* `comm` may be NULL: the words of the last error belong to the thread. */
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

  float mine[num_elements];
  float sum[num_elements];
  for (int i = 0; i < num_elements; ++i) mine[i] = (float)(i + rank);
  check(tuttiAllReduce(mine, sum, num_elements, tuttiFloat32, tuttiSum, comm), "tuttiAllReduce");

  /* Small whole numbers, so the sum is exact in any order. */
  const int ranks_added = num_ranks * (num_ranks - 1) / 2;
  for (int i = 0; i < num_elements; ++i) {
    const float expected = (float)(num_ranks * i + ranks_added);
    if (sum[i] == expected) continue;
    fprintf(stderr, "rank %d: element %d is %g instead of %g\n", rank, i, (double)sum[i], (double)expected);
    return 1;
  }
  if (rank == 0)
    printf("ranks: %d, elements: %d, the last one is %g\n", num_ranks, num_elements, (double)sum[num_elements - 1]);
  check(tuttiCommDestroy(comm), "tuttiCommDestroy");
  return 0;
}
