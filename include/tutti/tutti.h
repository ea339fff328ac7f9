// SPDX-License-Identifier: Apache-2.0
/* Tutti: collectives on one host or several, by the fastest algorithm there.
 *
 * Names and shapes are NCCL's, so that NCCL's users port by renaming. Each difference stands beside its function, and
 * all of them under "Porting from NCCL" below. Buffers are ordinary host memory, or symmetric memory (tuttiMemAlloc),
 * in which peers load and store without a copy.
 *
 * Threads. A communicator belongs to one thread at a time; different communicators are independent. A second thread
 * that calls one meanwhile gets tuttiInvalidUsage. This is detected nearly always. Any thread may call tuttiCommAbort
 * and tuttiCommGetAsyncError at any time.
 *
 * Calls block, and the output is complete when they return; tuttiI... and groups are the exceptions. All ranks call the
 * same operations in the same order with equal count, type, operator and root. Some may call in place and others not.
 *
 * Errors. If calls differ, they return tuttiInvalidUsage, and tuttiGetLastError() says how. (A rank that hears nothing
 * from the others in such a call, as a root of a broadcast, gets the error from one of its next calls.) Once a
 * communicator has failed, every later call on it returns the same error on every rank. If a rank was lost, or late by
 * TUTTI_TIMEOUT, the error names it. A process that ends without tuttiCommDestroy is lost to the others. After a failed
 * call its buffers are the caller's again. Buffers in symmetric memory, and outputs of a broadcast or a reduce, are so
 * only once every rank's call has returned: a rank that is stopped in the middle, or late by more than 50 ms there, may
 * still store there.
 *
 * A call with a wrong argument (tuttiInvalidArgument) has done nothing, and the other ranks do not hear of it. They
 * wait in that call for this rank, or get an error if it enters a different call. The rank repeats the call with valid
 * arguments, or aborts. Calls with blocks of different sizes are the exception: they tell all ranks (see there).
 *
 * Bits. An all-reduce gives the same bits on every rank. With the same inputs, count and settings on the same machine
 * it gives the same bits in every form: blocking, pending, persistent or in a group, in place or not, in ordinary or in
 * symmetric memory. Tests check this; it is not proven for each type and size. With another number of ranks, machine,
 * version or algorithm, floating-point numbers may be combined in another order.
 *
 * A communicator has at most 65536 ranks (over libfabric 16384), of which at most 1024 are on one host, and a block at
 * most 2^34 - 1 elements.
 *
 * Porting from NCCL.
 * - A call here takes host memory and is done when it returns. Devices and streams are in tutti/device.h.
 * - A thread is one rank at a time: there is no ncclCommInitAll. A group cannot make communicators.
 * - tuttiCommAbort breaks a communicator and does not free it; tuttiCommDestroy does.
 * - Symmetric memory belongs to a communicator, which tuttiMemAlloc and tuttiMemFree take. Buffers are not registered
 *   (ncclCommRegister).
 * - tuttiRedOpCreatePreMulSum always reads its scalar at once, so it has no ncclScalarResidence_t.
 * - Nothing is ever ncclInProgress: tuttiI... starts a pending operation, and its request waits for it.
 * - A config is a list of variables.
 * - Equal codes have equal numbers, and so have types and operators that NCCL has too. */
#ifndef TUTTI_TUTTI_H
#define TUTTI_TUTTI_H

/* NOLINTBEGIN(modernize-deprecated-headers): C programs include it too */
#include <stddef.h>
#include <stdint.h>
/* NOLINTEND(modernize-deprecated-headers) */

#if defined(_WIN32)
#error "Tutti runs on Linux"
#endif
#define TUTTI_API __attribute__((visibility("default")))

#define TUTTI_MAJOR 0
#define TUTTI_MINOR 1
#define TUTTI_PATCH 0
/* As one number that grows: 100 for 0.1.0, 10203 for 1.2.3. */
#define TUTTI_VERSION (TUTTI_MAJOR * 10000 + TUTTI_MINOR * 100 + TUTTI_PATCH)

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tuttiComm* tuttiComm_t;

#define TUTTI_UNIQUE_ID_BYTES 128
typedef struct {
  char internal[TUTTI_UNIQUE_ID_BYTES];
} tuttiUniqueId;

typedef enum {
  tuttiSuccess = 0,
  tuttiSystemError = 2,     /* the operating system refused */
  tuttiInternalError = 3,   /* a bug in Tutti */
  tuttiInvalidArgument = 4, /* an argument is wrong by itself */
  tuttiInvalidUsage = 5,    /* the call is wrong where it stands, or differs from the other ranks' */
  tuttiRemoteError = 6,     /* another rank was lost, or aborted */
  tuttiTimeout = 8,         /* TUTTI_TIMEOUT passed */
  tuttiUnsupported = 9      /* right, but not possible in this build or on this machine */
} tuttiResult_t;

typedef enum {
  tuttiInt8 = 0,
  tuttiChar = 0,
  tuttiUint8 = 1,
  tuttiInt32 = 2,
  tuttiInt = 2,
  tuttiUint32 = 3,
  tuttiInt64 = 4,
  tuttiUint64 = 5,
  tuttiFloat16 = 6,
  tuttiHalf = 6,
  tuttiFloat32 = 7,
  tuttiFloat = 7,
  tuttiFloat64 = 8,
  tuttiDouble = 8,
  tuttiBfloat16 = 9,
  tuttiFloat8e4m3 = 10,
  tuttiFloat8e5m2 = 11,
  tuttiInt16 = 12,
  tuttiUint16 = 13,
  tuttiNumTypes = 14
} tuttiDataType_t;

/* A built-in operator, or one made by tuttiRedOpCreatePreMulSum or tuttiRedOpCreate. */
typedef enum {
  tuttiSum = 0,
  tuttiProd = 1,
  tuttiMax = 2,
  tuttiMin = 3,
  tuttiAvg = 4,
  tuttiBitAnd = 5, /* the bitwise ones take integers */
  tuttiBitOr = 6,
  tuttiBitXor = 7,
  tuttiLogicalAnd = 8, /* the logical ones give 0 or 1 of the type */
  tuttiLogicalOr = 9,
  tuttiLogicalXor = 10,
  tuttiMaxRedOp = 0x7fffffff /* the room for operators made later */
} tuttiRedOp_t;

/* accumulator[i] = accumulator[i] o next[i], for count elements of the type the operator was made for. It may be
 * called from any call of the communicator, on runs of elements of any length. It must not throw. */
typedef void (*tuttiRedOpFunction_t)(void* accumulator, const void* next, size_t count, void* context);

TUTTI_API tuttiResult_t tuttiGetVersion(int* version);
TUTTI_API const char* tuttiGetErrorString(tuttiResult_t result);
/* The error message of this thread's last call that did not return tuttiSuccess. It stands until the thread's next such
 * call. comm may be NULL. */
TUTTI_API const char* tuttiGetLastError(tuttiComm_t comm);

/* An id for one communicator. The program gives it to all ranks by its own means. The calling process serves the
 * rendezvous and must live until all ranks have joined. */
TUTTI_API tuttiResult_t tuttiGetUniqueId(tuttiUniqueId* id);
TUTTI_API tuttiResult_t tuttiCommInitRank(tuttiComm_t* comm, int num_ranks, tuttiUniqueId id, int rank);
/* Settings of one communicator that override the environment. Begin one as
 *   tuttiConfig_t config = TUTTI_CONFIG_INITIALIZER;
 * Later versions may add fields at the end; programs built earlier still work. */
typedef struct {
  size_t size;
  int version;
  /* "NAME=VALUE" strings with NULL behind the last, or NULL. They take precedence over the environment's variables.
   * Variables that must agree must be the same on all ranks. */
  const char* const* variables;
} tuttiConfig_t;
#define TUTTI_CONFIG_INITIALIZER \
  { sizeof(tuttiConfig_t), TUTTI_VERSION, NULL }
/* config may be NULL. If a variable is wrong on one rank, all ranks return an error, and the id is spent. */
TUTTI_API tuttiResult_t tuttiCommInitRankConfig(tuttiComm_t* comm, int num_ranks, tuttiUniqueId id, int rank,
                                                const tuttiConfig_t* config);
/* The communicator of all ranks that were started together: by `tutti launch`, torchrun, an mpirun (PMIx, MPICH's PMI)
 * or srun. Every rank calls it equally often. A process without a launcher is a communicator of one rank. Incomplete
 * variables of a launcher are an error. Programs that use MPI may call it before MPI_Init or between MPI_Init and
 * MPI_Finalize. The process of rank 0 must live as long as others make communicators. A rank is one process: in a
 * forked child this is an error, and so is every call on the rank's communicators. Only tuttiCommDestroy,
 * tuttiCommUserRank and tuttiCommCount work there. */
TUTTI_API tuttiResult_t tuttiCommInitLaunched(tuttiComm_t* comm);
/* One new communicator for each color, of the ranks that pass this color. Their keys give the order of ranks; ranks
 * with equal keys keep their present order. With TUTTI_SPLIT_NOCOLOR a rank is in none, and *newcomm is NULL. All ranks
 * of comm call it. If one is lost, aborts comm, or cannot go on, the ranks that wait for it return an error. config
 * overrides the settings of comm; it may be NULL. */
#define TUTTI_SPLIT_NOCOLOR (-1)
TUTTI_API tuttiResult_t tuttiCommSplit(tuttiComm_t comm, int color, int key, tuttiComm_t* newcomm,
                                       const tuttiConfig_t* config);
/* A new communicator of the surviving ranks: those that have neither destroyed comm nor been lost, in their present
 * order. Every surviving rank must call it, and waits for the others. Any rank may be lost, rank 0 too. comm may be
 * broken for any reason, or not at all. If further ranks are lost during the call, the new communicator leaves them out
 * as well. Ranks that take part all succeed or all return an error, though not all the same one: a rank that is
 * refused an argument says which, and the others name that rank. A broken comm stays broken, with its symmetric memory,
 * requests and operators, and is destroyed as usual. config overrides the settings of comm; it may be NULL. */
TUTTI_API tuttiResult_t tuttiCommShrink(tuttiComm_t comm, tuttiComm_t* newcomm, const tuttiConfig_t* config);
/* A new communicator of the same ranks: tuttiCommSplit with one color and the present ranks as keys. */
TUTTI_API tuttiResult_t tuttiCommDup(tuttiComm_t comm, tuttiComm_t* newcomm);
/* Waits for all pending operations, and returns the first error, in the order of starts, that no call has returned yet.
 * Afterwards, calls that start an operation or free symmetric memory return tuttiInvalidUsage. Still allowed: to wait
 * for, test and free requests, to destroy operators, to get statistics, rank, number of ranks and error, to abort and
 * to destroy. */
TUTTI_API tuttiResult_t tuttiCommFinalize(tuttiComm_t comm);
/* Finalizes and destroys the communicator, even if it returns an error. Requests that nobody has waited for are gone
 * with it. Any thread may call it. While another thread is in a call of this communicator, it is refused and destroys
 * nothing. Ranks may destroy in any order. Every later call with this comm returns tuttiInvalidUsage and says that it
 * was destroyed. A forked child is no rank: it may destroy its copy or just exit, and the rank goes on. */
TUTTI_API tuttiResult_t tuttiCommDestroy(tuttiComm_t comm);
/* Breaks the communicator for all ranks. Any thread may call it, also while another is in a call. Destroy the
 * communicator once no thread is in a call of it. */
TUTTI_API tuttiResult_t tuttiCommAbort(tuttiComm_t comm);
TUTTI_API tuttiResult_t tuttiCommCount(tuttiComm_t comm, int* count);
TUTTI_API tuttiResult_t tuttiCommUserRank(tuttiComm_t comm, int* rank);
/* The error that has broken the communicator, or tuttiSuccess. Any thread may call it. */
TUTTI_API tuttiResult_t tuttiCommGetAsyncError(tuttiComm_t comm, tuttiResult_t* async_error);

/* Symmetric memory, zeroed. Collective: all ranks call with the same size, not 0, in the same order. More than the
 * machine has, or than the limits of control groups leave, is refused. Unlike NCCL's, it belongs to a communicator and
 * must be freed before the communicator is destroyed. It is fastest if send and receive buffers of every rank are in
 * it. If one rank passes symmetric memory, all must, and from the same allocation. tuttiMemFree is refused on all ranks
 * while a request of this communicator, pending or persistent, uses the memory; the error names the request. Wait for
 * it, or free it, first. */
TUTTI_API tuttiResult_t tuttiMemAlloc(void** memory, size_t bytes, tuttiComm_t comm);
TUTTI_API tuttiResult_t tuttiMemFree(void* memory, tuttiComm_t comm);

/* recvbuff[i] = fold over all ranks of sendbuff[i]. In place if sendbuff is recvbuff; otherwise they must not overlap.
 * The result has the same bits on every rank. */
TUTTI_API tuttiResult_t tuttiAllReduce(const void* sendbuff, void* recvbuff, size_t count, tuttiDataType_t datatype,
                                       tuttiRedOp_t op, tuttiComm_t comm);

/* recvbuff has a block of sendcount elements for each rank, in their order. In place if sendbuff is this rank's own
 * block of recvbuff. */
TUTTI_API tuttiResult_t tuttiAllGather(const void* sendbuff, void* recvbuff, size_t sendcount, tuttiDataType_t datatype,
                                       tuttiComm_t comm);
/* sendbuff has a block of recvcount elements for each rank; each rank gets the fold of its own. In place if recvbuff
 * is this rank's own block of sendbuff. */
TUTTI_API tuttiResult_t tuttiReduceScatter(const void* sendbuff, void* recvbuff, size_t recvcount,
                                           tuttiDataType_t datatype, tuttiRedOp_t op, tuttiComm_t comm);
/* Copies the root's sendbuff to every rank's recvbuff. Other ranks' sendbuff is ignored. */
TUTTI_API tuttiResult_t tuttiBroadcast(const void* sendbuff, void* recvbuff, size_t count, tuttiDataType_t datatype,
                                       int root, tuttiComm_t comm);
/* The same in place. */
TUTTI_API tuttiResult_t tuttiBcast(void* buff, size_t count, tuttiDataType_t datatype, int root, tuttiComm_t comm);
/* As tuttiAllReduce, for the root alone. Other ranks' recvbuff is ignored. */
TUTTI_API tuttiResult_t tuttiReduce(const void* sendbuff, void* recvbuff, size_t count, tuttiDataType_t datatype,
                                    tuttiRedOp_t op, int root, tuttiComm_t comm);
/* Both buffers have a block of count elements for each rank: block j of rank i becomes block i of rank j. In place
 * if sendbuff is recvbuff. */
TUTTI_API tuttiResult_t tuttiAlltoAll(const void* sendbuff, void* recvbuff, size_t count, tuttiDataType_t datatype,
                                      tuttiComm_t comm);
/* As tuttiAllGather, for the root alone. */
TUTTI_API tuttiResult_t tuttiGather(const void* sendbuff, void* recvbuff, size_t count, tuttiDataType_t datatype,
                                    int root, tuttiComm_t comm);
/* The root's sendbuff has a block of count elements for each rank. In place if the root's recvbuff is its own block
 * of sendbuff. */
TUTTI_API tuttiResult_t tuttiScatter(const void* sendbuff, void* recvbuff, size_t count, tuttiDataType_t datatype,
                                     int root, tuttiComm_t comm);
/* tuttiScan folds the inputs of all ranks up to this one, tuttiExScan those before this one. tuttiExScan does not
 * change rank 0's recvbuff. Neither takes tuttiAvg. In place if sendbuff is recvbuff. */
TUTTI_API tuttiResult_t tuttiScan(const void* sendbuff, void* recvbuff, size_t count, tuttiDataType_t datatype,
                                  tuttiRedOp_t op, tuttiComm_t comm);
TUTTI_API tuttiResult_t tuttiExScan(const void* sendbuff, void* recvbuff, size_t count, tuttiDataType_t datatype,
                                    tuttiRedOp_t op, tuttiComm_t comm);
/* Returns when every rank has called it. */
TUTTI_API tuttiResult_t tuttiBarrier(tuttiComm_t comm);

/* Collectives with blocks of different sizes. Counts and displacements are in elements; a count may be 0. A
 * displacement is where a block begins in its buffer. With NULL, blocks follow each other in the order of the ranks.
 * Blocks may be in any order and leave gaps, which do not change. Blocks that are written must not overlap.
 *
 * What one rank gives, the other must expect. If counts contradict each other, or one rank's arguments are wrong, every
 * rank returns an error; tuttiGetLastError() names the ranks and counts. Then nothing has been done, and the
 * communicator goes on. If the call is pending (tuttiIAllGatherV, a group), waiting for it returns the error. Counts
 * and displacements are read once: at the start, or when the request is made (tuttiAllGatherVInit). */

/* recvcounts[i] elements come from rank i, on every rank; sendcount is this rank's. In place if sendbuff is this
 * rank's own block of recvbuff. */
TUTTI_API tuttiResult_t tuttiAllGatherV(const void* sendbuff, size_t sendcount, void* recvbuff,
                                        const size_t* recvcounts, const size_t* displs, tuttiDataType_t datatype,
                                        tuttiComm_t comm);
/* Block i of every rank's sendbuff has recvcounts[i] elements, and its fold goes to rank i; all ranks have the same
 * recvcounts. In place if recvbuff is this rank's own block of sendbuff. */
TUTTI_API tuttiResult_t tuttiReduceScatterV(const void* sendbuff, void* recvbuff, const size_t* recvcounts,
                                            tuttiDataType_t datatype, tuttiRedOp_t op, tuttiComm_t comm);
/* sendcounts[j] elements go to rank j, and recvcounts[i] come from rank i. In place if sendbuff is recvbuff, with
 * the same counts and displacements. */
TUTTI_API tuttiResult_t tuttiAlltoAllV(const void* sendbuff, const size_t* sendcounts, const size_t* sdispls,
                                       void* recvbuff, const size_t* recvcounts, const size_t* rdispls,
                                       tuttiDataType_t datatype, tuttiComm_t comm);
/* As tuttiAllGatherV, for the root alone. Other ranks' recvbuff, recvcounts and displs are ignored. */
TUTTI_API tuttiResult_t tuttiGatherV(const void* sendbuff, size_t sendcount, void* recvbuff, const size_t* recvcounts,
                                     const size_t* displs, tuttiDataType_t datatype, int root, tuttiComm_t comm);
/* sendcounts[j] elements of the root's sendbuff go to rank j, which passes that number as its recvcount. Other ranks'
 * sendbuff, sendcounts and displs are ignored. In place if the root's recvbuff is its own block of sendbuff. */
TUTTI_API tuttiResult_t tuttiScatterV(const void* sendbuff, const size_t* sendcounts, const size_t* displs,
                                      void* recvbuff, size_t recvcount, tuttiDataType_t datatype, int root,
                                      tuttiComm_t comm);

/* To and from one rank. Every send has its receive with the same count and type. Between two ranks they match in the
 * order of their calls, independently of collectives. A send may return before its receive has been called. It does so
 * for small messages; do not rely on it. */
TUTTI_API tuttiResult_t tuttiSend(const void* sendbuff, size_t count, tuttiDataType_t datatype, int peer,
                                  tuttiComm_t comm);
TUTTI_API tuttiResult_t tuttiRecv(void* recvbuff, size_t count, tuttiDataType_t datatype, int peer, tuttiComm_t comm);
/* Sends to dest and receives from source at once, so that a ring of ranks needs no group. Either may be this rank. The
 * buffers must not overlap. */
TUTTI_API tuttiResult_t tuttiSendRecv(const void* sendbuff, size_t sendcount, int dest, void* recvbuff,
                                      size_t recvcount, int source, tuttiDataType_t datatype, tuttiComm_t comm);

/* Calls between these two are only started, and the outermost tuttiGroupEnd waits for all of them: sends and receives
 * all at once, the collectives of each communicator in their order. A group belongs to its thread, and groups may be
 * nested. Buffers belong to the group until its end. Operations with a request (tuttiI..., tuttiStart) start in their
 * order too; only their request waits for them. Communicators cannot be made within a group. If another thread is in a
 * call of one of its communicators, tuttiGroupEnd is refused, and the group stays open. A communicator may be destroyed
 * within a group: this waits for its calls, and the group's end skips it. */
TUTTI_API tuttiResult_t tuttiGroupStart(void);
TUTTI_API tuttiResult_t tuttiGroupEnd(void);
/* Ends a group in place of tuttiGroupEnd, if not all of its calls can be made. It aborts every communicator with calls
 * in the group, and does not wait. */
TUTTI_API tuttiResult_t tuttiGroupAbort(void);

/* Pending and persistent operations. tuttiI... starts a collective or a transfer and returns. Leave its buffers alone
 * until tuttiWait, tuttiWaitAll or a tuttiTest says that it is done. tutti...Init makes a request that can be started
 * any number of times with the same arguments: tuttiStart, then wait or test.
 *
 * All ranks start the collectives of a communicator in the same order, and perform them in that order. Each rank
 * chooses whether to block or to wait later. No background thread works: pending operations progress within calls.
 * Every call that waits or tests advances all operations that its thread has started, on every communicator; so does
 * making a communicator. A pending operation moves to the thread that next calls something on its communicator or its
 * request. Once a call has returned the communicator's failure, the buffers of all its pending operations are the
 * caller's again, as after a blocking call. */
typedef struct tuttiRequest* tuttiRequest_t;
/* The request becomes NULL unless it is persistent. A NULL request is done. A copy of a request that has ended or was
 * freed is refused with tuttiInvalidUsage, here and elsewhere, as long as its communicator lives. */
TUTTI_API tuttiResult_t tuttiWait(tuttiRequest_t* request);
/* Of several errors, the first. */
TUTTI_API tuttiResult_t tuttiWaitAll(int count, tuttiRequest_t* requests);
/* Waits until one request is done and sets *index to it; only that request is as after tuttiWait. Ignores requests that
 * are NULL or not active; if all are, *index is -1. */
TUTTI_API tuttiResult_t tuttiWaitAny(int count, tuttiRequest_t* requests, int* index);
/* Progresses as far as possible without waiting, and sets *done to 0 or 1. With 1 everything is as after tuttiWait. A
 * test reports the same errors as a wait: a rank that has left, calls that differ. TUTTI_TIMEOUT holds too; the time
 * between two tests counts, up to a second each. */
TUTTI_API tuttiResult_t tuttiTest(tuttiRequest_t* request, int* done);
/* Tests each request; *done says whether all are done. Each request that is done is as after tuttiTest, even if others
 * are not. Returns the first of several errors. */
TUTTI_API tuttiResult_t tuttiTestAll(int count, tuttiRequest_t* requests, int* done);
/* A request is active from tuttiStart until tuttiWait returns or tuttiTest says that it is done, even if its operation
 * has ended. To start or free an active request returns tuttiInvalidUsage. */
TUTTI_API tuttiResult_t tuttiStart(tuttiRequest_t request);
/* For a request of tutti...Init that is not active. */
TUTTI_API tuttiResult_t tuttiRequestFree(tuttiRequest_t* request);

TUTTI_API tuttiResult_t tuttiIAllReduce(const void* sendbuff, void* recvbuff, size_t count, tuttiDataType_t datatype,
                                        tuttiRedOp_t op, tuttiComm_t comm, tuttiRequest_t* request);
TUTTI_API tuttiResult_t tuttiIAllGather(const void* sendbuff, void* recvbuff, size_t sendcount,
                                        tuttiDataType_t datatype, tuttiComm_t comm, tuttiRequest_t* request);
TUTTI_API tuttiResult_t tuttiIReduceScatter(const void* sendbuff, void* recvbuff, size_t recvcount,
                                            tuttiDataType_t datatype, tuttiRedOp_t op, tuttiComm_t comm,
                                            tuttiRequest_t* request);
TUTTI_API tuttiResult_t tuttiIBroadcast(const void* sendbuff, void* recvbuff, size_t count, tuttiDataType_t datatype,
                                        int root, tuttiComm_t comm, tuttiRequest_t* request);
TUTTI_API tuttiResult_t tuttiIBcast(void* buff, size_t count, tuttiDataType_t datatype, int root, tuttiComm_t comm,
                                    tuttiRequest_t* request);
TUTTI_API tuttiResult_t tuttiIReduce(const void* sendbuff, void* recvbuff, size_t count, tuttiDataType_t datatype,
                                     tuttiRedOp_t op, int root, tuttiComm_t comm, tuttiRequest_t* request);
TUTTI_API tuttiResult_t tuttiIAlltoAll(const void* sendbuff, void* recvbuff, size_t count, tuttiDataType_t datatype,
                                       tuttiComm_t comm, tuttiRequest_t* request);
TUTTI_API tuttiResult_t tuttiIGather(const void* sendbuff, void* recvbuff, size_t count, tuttiDataType_t datatype,
                                     int root, tuttiComm_t comm, tuttiRequest_t* request);
TUTTI_API tuttiResult_t tuttiIScatter(const void* sendbuff, void* recvbuff, size_t count, tuttiDataType_t datatype,
                                      int root, tuttiComm_t comm, tuttiRequest_t* request);
TUTTI_API tuttiResult_t tuttiIScan(const void* sendbuff, void* recvbuff, size_t count, tuttiDataType_t datatype,
                                   tuttiRedOp_t op, tuttiComm_t comm, tuttiRequest_t* request);
TUTTI_API tuttiResult_t tuttiIExScan(const void* sendbuff, void* recvbuff, size_t count, tuttiDataType_t datatype,
                                     tuttiRedOp_t op, tuttiComm_t comm, tuttiRequest_t* request);
TUTTI_API tuttiResult_t tuttiIAllGatherV(const void* sendbuff, size_t sendcount, void* recvbuff,
                                         const size_t* recvcounts, const size_t* displs, tuttiDataType_t datatype,
                                         tuttiComm_t comm, tuttiRequest_t* request);
TUTTI_API tuttiResult_t tuttiIReduceScatterV(const void* sendbuff, void* recvbuff, const size_t* recvcounts,
                                             tuttiDataType_t datatype, tuttiRedOp_t op, tuttiComm_t comm,
                                             tuttiRequest_t* request);
TUTTI_API tuttiResult_t tuttiIAlltoAllV(const void* sendbuff, const size_t* sendcounts, const size_t* sdispls,
                                        void* recvbuff, const size_t* recvcounts, const size_t* rdispls,
                                        tuttiDataType_t datatype, tuttiComm_t comm, tuttiRequest_t* request);
TUTTI_API tuttiResult_t tuttiIGatherV(const void* sendbuff, size_t sendcount, void* recvbuff, const size_t* recvcounts,
                                      const size_t* displs, tuttiDataType_t datatype, int root, tuttiComm_t comm,
                                      tuttiRequest_t* request);
TUTTI_API tuttiResult_t tuttiIScatterV(const void* sendbuff, const size_t* sendcounts, const size_t* displs,
                                       void* recvbuff, size_t recvcount, tuttiDataType_t datatype, int root,
                                       tuttiComm_t comm, tuttiRequest_t* request);
TUTTI_API tuttiResult_t tuttiIBarrier(tuttiComm_t comm, tuttiRequest_t* request);
TUTTI_API tuttiResult_t tuttiISend(const void* sendbuff, size_t count, tuttiDataType_t datatype, int peer,
                                   tuttiComm_t comm, tuttiRequest_t* request);
TUTTI_API tuttiResult_t tuttiIRecv(void* recvbuff, size_t count, tuttiDataType_t datatype, int peer, tuttiComm_t comm,
                                   tuttiRequest_t* request);

TUTTI_API tuttiResult_t tuttiAllReduceInit(const void* sendbuff, void* recvbuff, size_t count, tuttiDataType_t datatype,
                                           tuttiRedOp_t op, tuttiComm_t comm, tuttiRequest_t* request);
TUTTI_API tuttiResult_t tuttiAllGatherInit(const void* sendbuff, void* recvbuff, size_t sendcount,
                                           tuttiDataType_t datatype, tuttiComm_t comm, tuttiRequest_t* request);
TUTTI_API tuttiResult_t tuttiReduceScatterInit(const void* sendbuff, void* recvbuff, size_t recvcount,
                                               tuttiDataType_t datatype, tuttiRedOp_t op, tuttiComm_t comm,
                                               tuttiRequest_t* request);
TUTTI_API tuttiResult_t tuttiBroadcastInit(const void* sendbuff, void* recvbuff, size_t count, tuttiDataType_t datatype,
                                           int root, tuttiComm_t comm, tuttiRequest_t* request);
TUTTI_API tuttiResult_t tuttiBcastInit(void* buff, size_t count, tuttiDataType_t datatype, int root, tuttiComm_t comm,
                                       tuttiRequest_t* request);
TUTTI_API tuttiResult_t tuttiReduceInit(const void* sendbuff, void* recvbuff, size_t count, tuttiDataType_t datatype,
                                        tuttiRedOp_t op, int root, tuttiComm_t comm, tuttiRequest_t* request);
TUTTI_API tuttiResult_t tuttiAlltoAllInit(const void* sendbuff, void* recvbuff, size_t count, tuttiDataType_t datatype,
                                          tuttiComm_t comm, tuttiRequest_t* request);
TUTTI_API tuttiResult_t tuttiGatherInit(const void* sendbuff, void* recvbuff, size_t count, tuttiDataType_t datatype,
                                        int root, tuttiComm_t comm, tuttiRequest_t* request);
TUTTI_API tuttiResult_t tuttiScatterInit(const void* sendbuff, void* recvbuff, size_t count, tuttiDataType_t datatype,
                                         int root, tuttiComm_t comm, tuttiRequest_t* request);
TUTTI_API tuttiResult_t tuttiScanInit(const void* sendbuff, void* recvbuff, size_t count, tuttiDataType_t datatype,
                                      tuttiRedOp_t op, tuttiComm_t comm, tuttiRequest_t* request);
TUTTI_API tuttiResult_t tuttiExScanInit(const void* sendbuff, void* recvbuff, size_t count, tuttiDataType_t datatype,
                                        tuttiRedOp_t op, tuttiComm_t comm, tuttiRequest_t* request);
TUTTI_API tuttiResult_t tuttiAllGatherVInit(const void* sendbuff, size_t sendcount, void* recvbuff,
                                            const size_t* recvcounts, const size_t* displs, tuttiDataType_t datatype,
                                            tuttiComm_t comm, tuttiRequest_t* request);
TUTTI_API tuttiResult_t tuttiReduceScatterVInit(const void* sendbuff, void* recvbuff, const size_t* recvcounts,
                                                tuttiDataType_t datatype, tuttiRedOp_t op, tuttiComm_t comm,
                                                tuttiRequest_t* request);
TUTTI_API tuttiResult_t tuttiAlltoAllVInit(const void* sendbuff, const size_t* sendcounts, const size_t* sdispls,
                                           void* recvbuff, const size_t* recvcounts, const size_t* rdispls,
                                           tuttiDataType_t datatype, tuttiComm_t comm, tuttiRequest_t* request);
TUTTI_API tuttiResult_t tuttiGatherVInit(const void* sendbuff, size_t sendcount, void* recvbuff,
                                         const size_t* recvcounts, const size_t* displs, tuttiDataType_t datatype,
                                         int root, tuttiComm_t comm, tuttiRequest_t* request);
TUTTI_API tuttiResult_t tuttiScatterVInit(const void* sendbuff, const size_t* sendcounts, const size_t* displs,
                                          void* recvbuff, size_t recvcount, tuttiDataType_t datatype, int root,
                                          tuttiComm_t comm, tuttiRequest_t* request);
TUTTI_API tuttiResult_t tuttiBarrierInit(tuttiComm_t comm, tuttiRequest_t* request);
TUTTI_API tuttiResult_t tuttiSendInit(const void* sendbuff, size_t count, tuttiDataType_t datatype, int peer,
                                      tuttiComm_t comm, tuttiRequest_t* request);
TUTTI_API tuttiResult_t tuttiRecvInit(void* recvbuff, size_t count, tuttiDataType_t datatype, int peer,
                                      tuttiComm_t comm, tuttiRequest_t* request);

/* The algorithm of such a call, and the reason: "one_shot", "by size". The collective has its name in `tutti
 * algorithms`, such as "all_gather". op and root count only for collectives that have them. For blocks of different
 * sizes ("all_gather_v"), count is their mean. `why` is "forced" if TUTTI_ALLREDUCE_ALGORITHM or its like has chosen;
 * if that choice cannot be followed, `why` says what is against it. Both live as long as the communicator. The call
 * performs nothing and asks no other rank. */
TUTTI_API tuttiResult_t tuttiGetAlgorithm(const char* collective, const void* sendbuff, const void* recvbuff,
                                          size_t count, tuttiDataType_t datatype, tuttiRedOp_t op, int root,
                                          tuttiComm_t comm, const char** algorithm, const char** why);
/* The same with the chooser as a code, for programs: the words of `why` are for people. */
typedef enum {
  tuttiChoiceOwn = 0,     /* the library */
  tuttiChoiceForced = 1,  /* a variable such as TUTTI_ALLREDUCE_ALGORITHM */
  tuttiChoiceFallback = 2 /* the library, because a variable's algorithm cannot do this call, as `why` says */
} tuttiChoice_t;
/* Begin one as
 *   tuttiAlgorithmInfo_t info = TUTTI_ALGORITHM_INFO_INITIALIZER;
 * Later versions may add fields at the end; no more than `size` bytes are written. */
typedef struct {
  size_t size;
  const char* algorithm;
  const char* why;
  tuttiChoice_t choice;
} tuttiAlgorithmInfo_t;
#define TUTTI_ALGORITHM_INFO_INITIALIZER \
  { sizeof(tuttiAlgorithmInfo_t), NULL, NULL, tuttiChoiceOwn }
TUTTI_API tuttiResult_t tuttiGetAlgorithmInfo(const char* collective, const void* sendbuff, const void* recvbuff,
                                              size_t count, tuttiDataType_t datatype, tuttiRedOp_t op, int root,
                                              tuttiComm_t comm, tuttiAlgorithmInfo_t* info);

/* What this rank has done on a communicator: a row for each combination of operation, algorithm and reach that it has
 * used. All texts live as long as the communicator. Counting costs small calls nothing, so their bytes are unknown. */
#define TUTTI_BYTES_NOT_COUNTED UINT64_MAX
typedef struct {
  const char* operation; /* a collective by its name in `tutti algorithms`, or "send" or "receive" */
  const char* algorithm; /* its name; "" of a send or receive */
  /* How data got to another rank: "small" (all-reduces that go straight through a line or slot of shared memory),
   * "staged" (copied there, by whatever steps), "symmetric" (read where they lie, in symmetric memory), "attached" (the
   * system copies them, once). */
  const char* reach;
  uint64_t calls; /* started */
  uint64_t bytes; /* of all calls, counted as `tutti run` counts the bytes of a message; TUTTI_BYTES_NOT_COUNTED for
                     small calls */
} tuttiStatistic_t;
/* *statistics has *count rows, which stand until the next call of this function. With TUTTI_DEBUG=info, the log shows
 * rank 0's rows as a table when the communicator is destroyed. */
TUTTI_API tuttiResult_t tuttiCommGetStatistics(tuttiComm_t comm, const tuttiStatistic_t** statistics, int* count);

/* Virtual time. With TUTTI_FABRIC=simulate:FABRIC (simulate:torus_2d:2x3, simulate:./my.toml), the calls of a
 * communicator are carried out on this host, with their data, and take the time that `tutti simulate` gives for them on
 * that fabric. Rank r of the first communicator is rank r of the fabric, also in communicators that are split from it.
 * A collective begins once all its ranks have started it and the previous one has ended; so roots wait, too. A call
 * that the fabric cannot do returns tuttiUnsupported on every rank; it has been carried out, but no clock has moved.
 * A message takes as long as it would alone on the fabric, and at least the time of one byte: a receive from when both
 * ranks have started, a send from when the sender has. So messages do not slow each other, and a late receiver does not
 * delay its sender. A message to the rank itself takes no time.
 * tuttiGetAlgorithm and the statistics name this host's algorithms; with TUTTI_DEBUG=info the log names those of the
 * fabric. Threads that call different communicators share their rank's clock.
 *
 * *now is this rank's clock, in nanoseconds since the first communicator was made. It advances when a collective, a
 * send or a receive has been waited for, and with tuttiAdvanceVirtualTime. *last_call is how long this communicator's
 * last collective took, until its last rank was done. Either may be NULL. In real time this returns tuttiUnsupported.
 */
TUTTI_API tuttiResult_t tuttiGetVirtualTime(tuttiComm_t comm, double* now, double* last_call);
/* The program says how long it computes: this rank's clock advances by that many nanoseconds. In real time it does
 * nothing. */
TUTTI_API tuttiResult_t tuttiAdvanceVirtualTime(tuttiComm_t comm, double nanoseconds);

/* Each rank's input is multiplied by that rank's *scalar (of type datatype) before the sum. */
TUTTI_API tuttiResult_t tuttiRedOpCreatePreMulSum(tuttiRedOp_t* op, const void* scalar, tuttiDataType_t datatype,
                                                  tuttiComm_t comm);
/* An associative operator of the caller's own. All ranks make and destroy the same operators, of both kinds, in the
 * same order, and pass the same operator to a call. A difference is an error like any other. */
TUTTI_API tuttiResult_t tuttiRedOpCreate(tuttiRedOp_t* op, tuttiRedOpFunction_t function, void* context,
                                         int commutative, tuttiDataType_t datatype, tuttiComm_t comm);
TUTTI_API tuttiResult_t tuttiRedOpDestroy(tuttiRedOp_t op, tuttiComm_t comm);

#ifdef __cplusplus
}
#endif

#endif /* TUTTI_TUTTI_H */
