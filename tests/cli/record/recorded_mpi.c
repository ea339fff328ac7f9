// SPDX-License-Identifier: Apache-2.0
// recorded_mpi [all|plain|threads|many|dies]: an MPI program for tests of tutti record, which know how often it calls
// what.
//   all      each way of calling; functions of Fortran are called as its compiler does
//   plain    8-byte all-reduces alone
//   threads  two threads, each on a communicator of its own
//   many     communicators that are made and freed
//   dies     a rank ends in the midst
// With AS_LIBRARY it is a module that another program opens.
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef WITH_FORTRAN
void mpi_allreduce_(const void* in, void* out, const int* count, const MPI_Fint* type, const MPI_Fint* op,
                    const MPI_Fint* comm, int* error);
#ifdef OPEN_MPI
// What the module mpi_f08 calls.
void ompi_allreduce_f(const void* in, void* out, const int* count, const MPI_Fint* type, const MPI_Fint* op,
                      const MPI_Fint* comm, int* error);
#endif
#ifndef OPEN_MPI
// mpi_f08 of MPICH, whose result is optional.
void mpi_barrier_f08_(const MPI_Fint* comm, int* error);
#endif
void mpi_ibcast_(void* data, const int* count, const MPI_Fint* type, const int* root, const MPI_Fint* comm,
                 MPI_Fint* request, int* error);
void mpi_wait_(MPI_Fint* request, MPI_Fint* status, int* error);
#endif

static int rank;
static int ranks;

static void fail(const char* what) {
  fprintf(stderr, "recorded_mpi: rank %d: %s\n", rank, what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

// Outside main, so that sites have a name of their own.
__attribute__((noinline, noclone)) void take_steps(int calls) {
  for (int call = 0; call < calls; ++call) {
    double value = rank;
    double sum = 0;
    MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (sum != ranks * (ranks - 1) / 2) fail("a sum is wrong");
  }
}

static void call_with_roots(int* in, int* out) {
  int counts[64];
  int begins[64];
  for (int each = 0; each < ranks; ++each) {
    counts[each] = each + 1;
    begins[each] = each * (each + 1) / 2;
  }
  for (int call = 0; call < 2; ++call) {
    MPI_Gather(in, 5, MPI_INT, out, 5, MPI_INT, 1, MPI_COMM_WORLD);
    // What others than the root give is ignored.
    MPI_Scatter(in, rank == 1 ? 6 : 77, MPI_INT, out, 6, MPI_INT, 1, MPI_COMM_WORLD);
    MPI_Reduce(in, out, 7, MPI_INT, MPI_MAX, 1, MPI_COMM_WORLD);
    MPI_Gatherv(in, counts[rank], MPI_INT, out, rank == 0 ? counts : NULL, rank == 0 ? begins : NULL, MPI_INT, 0,
                MPI_COMM_WORLD);
    MPI_Scatterv(in, rank == 0 ? counts : NULL, rank == 0 ? begins : NULL, MPI_INT, out, counts[rank], MPI_INT, 0,
                 MPI_COMM_WORLD);
    MPI_Allgatherv(in, counts[rank], MPI_INT, out, counts, begins, MPI_INT, MPI_COMM_WORLD);
    MPI_Reduce_scatter(in, out, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  }
  if (out[0] < 0) fail("a gathered value is wrong");
}

static void call_in_place(int* in, int* out) {
  for (int call = 0; call < 3; ++call) {
    MPI_Allgather(MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, out, 9, MPI_INT, MPI_COMM_WORLD);
    MPI_Alltoall(MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, out, 10, MPI_INT, MPI_COMM_WORLD);
    MPI_Gather(rank == 0 ? MPI_IN_PLACE : (void*)in, 11, MPI_INT, out, 11, MPI_INT, 0, MPI_COMM_WORLD);
  }
}

static void call_others(int* in, int* out) {
  MPI_Datatype pair;
  MPI_Type_contiguous(3, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  for (int call = 0; call < 4; ++call) {
    MPI_Bcast(out, 2, pair, 0, MPI_COMM_WORLD); /* 24 bytes */
    MPI_Scan(in, out, 12, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Exscan(in, out, 13, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Reduce_scatter_block(in, out, 14, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Type_free(&pair);
}

// A type that is made anew may have the handle of one that was freed, and another size.
static void call_with_types(int* in, int* out) {
  for (int call = 0; call < 200; ++call) {
    MPI_Datatype type;
    MPI_Type_contiguous(call % 2 == 0 ? 50 : 51, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Gather(in, 1, type, out, 1, type, 0, MPI_COMM_WORLD);
    MPI_Type_free(&type);
  }
}

static void call_in_turns(int* in, int* out) {
  // Another root each time, and two functions by one site.
  int (*const functions[])(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm) = {MPI_Scan, MPI_Exscan};
  for (int call = 0; call < 150; ++call) {
    MPI_Bcast(out, 18, MPI_INT, call % ranks, MPI_COMM_WORLD);
    functions[call % 2](in, out, 19, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  }
}

static void call_with_blocks(int* in, int* out) {
  int counts[64];
  int begins[64];
  int byte_begins[64];
  MPI_Datatype types[64];
  for (int each = 0; each < ranks; ++each) {
    counts[each] = 4;
    begins[each] = 4 * each;
    byte_begins[each] = 4 * each * (int)sizeof(int);
    types[each] = MPI_INT;
  }
  for (int call = 0; call < 7; ++call) {
    MPI_Alltoallv(in, counts, begins, MPI_INT, out, counts, begins, MPI_INT, MPI_COMM_WORLD);
    MPI_Alltoallw(in, counts, byte_begins, types, out, counts, byte_begins, types, MPI_COMM_WORLD);
#if MPI_VERSION >= 4
    MPI_Count large[64];
    MPI_Aint large_begins[64];
    for (int each = 0; each < ranks; ++each) {
      large[each] = 5;
      large_begins[each] = 5 * each;
    }
    MPI_Allreduce_c(in, out, 21, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allgatherv_c(in, 5, MPI_INT, out, large, large_begins, MPI_INT, MPI_COMM_WORLD);
#endif
  }
}

static void call_without_waiting(int* in, int* out) {
  MPI_Request requests[2];
  MPI_Status statuses[2];
  for (int call = 0; call < 30; ++call) {
    MPI_Iallreduce(in, out, 100, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[0]);
    MPI_Ibarrier(MPI_COMM_WORLD, &requests[1]);
    if (call % 3 == 0) {
      MPI_Waitall(2, requests, statuses);
    } else if (call % 3 == 1) {
      int which = 0;
      MPI_Waitany(2, requests, &which, &statuses[0]);
      MPI_Wait(&requests[1 - which], &statuses[1]);
    } else {
      for (int done = 0; done == 0;) MPI_Testall(2, requests, &done, statuses);
    }
  }
}

#ifdef WITH_FORTRAN
static void call_as_fortran(int* in, int* out) {
  const MPI_Fint world = MPI_Comm_c2f(MPI_COMM_WORLD);
  const MPI_Fint type = MPI_Type_c2f(MPI_INT);
  const MPI_Fint op = MPI_Op_c2f(MPI_SUM);
  const int count = 15;
  const int root = 1;
  int error = 0;
  for (int call = 0; call < 5; ++call) {
    MPI_Fint request = 0;
    MPI_Fint status[64];
    mpi_allreduce_(in, out, &count, &type, &op, &world, &error);
    if (error != MPI_SUCCESS) fail("a call of Fortran failed");
#ifdef OPEN_MPI
    ompi_allreduce_f(in, out, &count, &type, &op, &world, &error);
#endif
#ifndef OPEN_MPI
    mpi_barrier_f08_(&world, NULL);
#endif
    mpi_ibcast_(out, &count, &type, &root, &world, &request, &error);
    mpi_wait_(&request, status, &error);
    if (error != MPI_SUCCESS) fail("a wait of Fortran failed");
  }
}
#endif

static void call_on_others(int* in, int* out) {
  MPI_Comm half;
  MPI_Comm_split(MPI_COMM_WORLD, rank < 2 ? 0 : MPI_UNDEFINED, rank, &half);
  if (half != MPI_COMM_NULL) {
    for (int call = 0; call < 9; ++call) MPI_Allreduce(in, out, 16, MPI_INT, MPI_SUM, half);
    MPI_Comm_free(&half);
  }
  // A handle that is used anew may be the same number.
  MPI_Comm copy;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  for (int call = 0; call < 6; ++call) MPI_Allreduce(in, out, 17, MPI_INT, MPI_SUM, copy);
  MPI_Comm_disconnect(&copy);
  if (rank < 2)
    MPI_Sendrecv(in, 1, MPI_INT, 1 - rank, 0, out, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void* call_in_thread(void* communicator) {
  int value = 1;
  int sum = 0;
  for (int call = 0; call < 500; ++call) {
    MPI_Request request;
    MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, *(MPI_Comm*)communicator);
    MPI_Iallreduce(&value, &sum, 1, MPI_INT, MPI_SUM, *(MPI_Comm*)communicator, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  if (sum != ranks) fail("a sum of a thread is wrong");
  return NULL;
}

static void call_in_threads(void) {
  MPI_Comm communicators[2];
  pthread_t threads[2];
  for (int each = 0; each < 2; ++each) MPI_Comm_dup(MPI_COMM_WORLD, &communicators[each]);
  for (int each = 0; each < 2; ++each) pthread_create(&threads[each], NULL, call_in_thread, &communicators[each]);
  for (int each = 0; each < 2; ++each) pthread_join(threads[each], NULL);
  for (int each = 0; each < 2; ++each) MPI_Comm_free(&communicators[each]);
}

// Errors stay as they are, and do not count.
static void call_wrongly(int* in, int* out) {
  MPI_Comm copy;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN);
  for (int call = 0; call < 3; ++call) {
    if (MPI_Bcast(in, 1, MPI_DATATYPE_NULL, 0, copy) == MPI_SUCCESS) fail("a null type is no error");
    if (MPI_Reduce(in, out, 1, MPI_INT, MPI_SUM, ranks, copy) == MPI_SUCCESS) fail("a root too large is no error");
    MPI_Allreduce(in, out, 22, MPI_INT, MPI_SUM, copy);
  }
  MPI_Comm_free(&copy);
}

// Their handles are the same numbers, and their ranks differ.
static void call_on_many(void) {
  int in = 1;
  int out = 0;
  for (int call = 0; call < 500; ++call) {
    MPI_Comm one;
    MPI_Comm_split(MPI_COMM_WORLD, call % 2 == 0 ? 0 : rank, rank, &one);
    MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, one);
    MPI_Comm_free(&one);
  }
}

static void call_all(void) {
  int* const in = calloc(1 << 14, sizeof *in);
  int* const out = calloc(1 << 14, sizeof *out);
  call_with_roots(in, out);
  call_in_place(in, out);
  call_others(in, out);
  call_with_types(in, out);
  call_in_turns(in, out);
  call_with_blocks(in, out);
  call_without_waiting(in, out);
#ifdef WITH_FORTRAN
  call_as_fortran(in, out);
#endif
  call_on_others(in, out);
  call_wrongly(in, out);
  free(in);
  free(out);
}

int recorded_main(const char* how) {
  int level = 0;
  MPI_Init_thread(NULL, NULL, strcmp(how, "threads") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  take_steps(1000);
  if (strcmp(how, "dies") == 0) {
    if (rank == 1) abort();
    take_steps(1);
  }
  if (strcmp(how, "all") == 0) call_all();
  if (strcmp(how, "many") == 0) call_on_many();
  if (strcmp(how, "threads") == 0 && level == MPI_THREAD_MULTIPLE) call_in_threads();
  MPI_Finalize();
  return 0;
}

#ifndef AS_LIBRARY
int main(int argc, char** argv) { return recorded_main(argc > 1 ? argv[1] : "all"); }
#endif
