// SPDX-License-Identifier: Apache-2.0
// opens_mpi LIBRARY HOW: opens a library for itself alone, as interpreters open their modules, and has it call MPI.
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char** argv) {
  void* const library = argc == 3 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
  void* const found = library != NULL ? dlsym(library, "recorded_main") : NULL;
  if (found == NULL) {
    fprintf(stderr, "opens_mpi: %s\n", argc == 3 ? dlerror() : "it takes a library and how it is to call");
    return 2;
  }
  return ((int (*)(const char*))found)(argv[2]);
}
