// SPDX-License-Identifier: Apache-2.0
/* split_rank GROUPS: ranks fall into so many groups, in turn, and the last of them does an all-reduce of 4 MB. */
#include <stdio.h>
#include <stdlib.h>

#include <tutti/tutti.h>

#define CHECK(call)                                              \
  do {                                                           \
    if ((call) == tuttiSuccess) break;                           \
    fprintf(stderr, "%s: %s\n", #call, tuttiGetLastError(NULL)); \
    return 1;                                                    \
  } while (0)

enum { num_elements = 1 << 20 };

int main(int argc, char** argv) {
  const int groups = argc == 2 ? atoi(argv[1]) : 0;
  if (groups < 1) {
    fprintf(stderr, "usage: split_rank GROUPS\n");
    return 2;
  }
  tuttiComm_t all = NULL;
  tuttiComm_t group = NULL;
  int rank = 0;
  CHECK(tuttiCommInitLaunched(&all));
  CHECK(tuttiCommUserRank(all, &rank));
  CHECK(tuttiCommSplit(all, rank % groups, rank, &group, NULL));
  float* const values = calloc(num_elements, sizeof *values);
  if (values == NULL) return 1;
  if (rank % groups == groups - 1) CHECK(tuttiAllReduce(values, values, num_elements, tuttiFloat, tuttiSum, group));
  free(values);
  CHECK(tuttiCommDestroy(group));
  CHECK(tuttiCommDestroy(all));
  return 0;
}
