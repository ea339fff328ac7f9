// SPDX-License-Identifier: Apache-2.0
// A C++ program against an installed Tutti, with all of its headers.
#include <iostream>

#include <tutti/bench.hpp>
#include <tutti/tutti.h>
#include <tutti/tutti.hpp>

int main() {
  int version = -1;
  if (tuttiGetVersion(&version) != tuttiSuccess || version <= 0) {
    std::cerr << "tuttiGetVersion gave " << version << '\n';
    return 1;
  }
  return 0;
}
