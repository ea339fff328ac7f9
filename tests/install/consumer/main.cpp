// A C++ program against an installed Tutti.
#include <iostream>

#include <tutti/tutti.h>

int main() {
  int version = -1;
  if (tuttiGetVersion(&version) != tuttiSuccess || version <= 0) {
    std::cerr << "tuttiGetVersion gave " << version << '\n';
    return 1;
  }
  return 0;
}
