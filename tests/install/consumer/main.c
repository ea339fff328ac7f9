// SPDX-License-Identifier: Apache-2.0
/* A C11 program against an installed Tutti. */
#include <stdio.h>

#include <tutti/tutti.h>

int main(void) {
  int version = -1;
  if (tuttiGetVersion(&version) != tuttiSuccess || version <= 0) {
    fprintf(stderr, "tuttiGetVersion gave %d\n", version);
    return 1;
  }
  return 0;
}
