// SPDX-License-Identifier: Apache-2.0
/* Heat spreads along a ring of cells, of which each rank has a part. In each step neighbours exchange the cells at
 * their edges, in a group; and while the next step is taken, an all-reduce that was begun adds up the heat of the last.
 *
 *   tutti launch -n 4 -- ./halo */
#include <stdio.h>

#include <tutti/tutti.h>

#define CHECK(call)                                              \
  do {                                                           \
    if ((call) == tuttiSuccess) break;                           \
    fprintf(stderr, "%s: %s\n", #call, tuttiGetLastError(NULL)); \
    return 1;                                                    \
  } while (0)

enum { num_cells = 100, num_steps = 40 };

int main(void) {
  tuttiComm_t comm = NULL;
  int rank = 0;
  int num_ranks = 0;
  CHECK(tuttiCommInitLaunched(&comm));
  CHECK(tuttiCommUserRank(comm, &rank));
  CHECK(tuttiCommCount(comm, &num_ranks));
  const int left = (rank + num_ranks - 1) % num_ranks;
  const int right = (rank + 1) % num_ranks;

  double cells[num_cells + 2] = {0}; /* the first and the last are the neighbours' */
  double next[num_cells + 2] = {0};
  if (rank == 0) cells[1] = 1;
  double mine = 0;
  double total = 1;
  tuttiRequest_t sum = NULL;
  for (int step = 0; step < num_steps; ++step) {
    /* Of two ranks each is the other's left and right: what is sent first is then received first. */
    CHECK(tuttiGroupStart());
    CHECK(tuttiSend(&cells[1], 1, tuttiDouble, left, comm));
    CHECK(tuttiSend(&cells[num_cells], 1, tuttiDouble, right, comm));
    CHECK(tuttiRecv(&cells[num_cells + 1], 1, tuttiDouble, right, comm));
    CHECK(tuttiRecv(&cells[0], 1, tuttiDouble, left, comm));
    CHECK(tuttiGroupEnd());
    for (int i = 1; i <= num_cells; ++i) next[i] = (cells[i - 1] + cells[i + 1]) / 2;

    /* Halves of halves: nothing is rounded in so few steps, and no heat is lost. */
    CHECK(tuttiWait(&sum));
    if (total != 1) return 1;
    mine = 0;
    for (int i = 1; i <= num_cells; ++i) mine += cells[i] = next[i];
    CHECK(tuttiIAllReduce(&mine, &total, 1, tuttiDouble, tuttiSum, comm, &sum));
  }
  CHECK(tuttiWait(&sum));
  if (rank == 0)
    printf("ranks: %d, cells: %d, heat after %d steps: %g\n", num_ranks, num_ranks * num_cells, num_steps, total);
  CHECK(tuttiCommDestroy(comm));
  return total == 1 ? 0 : 1;
}
