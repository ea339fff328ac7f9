// SPDX-License-Identifier: Apache-2.0
// An NCCL that has not got all that it should.
// NOLINTBEGIN(readability-identifier-naming): its names are not ours.
extern "C" __attribute__((visibility("default"))) int ncclGetVersion(int* version) {
  *version = 22809;
  return 0;
}
extern "C" __attribute__((visibility("default"))) const char* ncclGetErrorString(int) { return ""; }
// NOLINTEND(readability-identifier-naming)
