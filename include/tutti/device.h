// SPDX-License-Identifier: Apache-2.0
/* Tutti on CUDA devices: collectives on device memory, put into streams.
 *
 * Names and shapes are NCCL's, so that NCCL's users port by renaming: nccl... becomes tuttiDevice.... A device
 * communicator is made of an ordinary one (tutti.h), by which its ranks meet. A rank has one device: a process each, or
 * a thread each. All ranks are on one host.
 *
 * Calls put their work into the stream and return. What was put into the stream before is done before, and what comes
 * after waits for the result. Calls can be captured in CUDA graphs, and the graphs launched as often as wanted; all
 * ranks capture and launch alike. All ranks make the same calls in the same order with equal count, type, operator and
 * root, and all in place or none. Buffers lie on the rank's device, at a multiple of the type's size.
 *
 * Memory. Calls are fastest if the buffers of every rank are symmetric: from tuttiDeviceMemAlloc, or registered. Then
 * the ranks read and write them where they lie; other buffers are copied through slots, and some algorithms need
 * symmetric ones. If one rank passes symmetric buffers, all must.
 *
 * Errors. What is wrong with a call by itself is returned at once, and then it has done nothing. What goes wrong on the
 * device shows later: the call's kernel ends, later calls return the error, and so does
 * tuttiDeviceCommGetAsyncError. That is so if a rank is lost, if a rank is late by TUTTI_TIMEOUT, if ranks make
 * different calls, or if a rank has aborted. Outputs of such calls are worthless, and the device communicator is only
 * good to be destroyed. tuttiGetLastError (tutti.h) has the words.
 *
 * A device communicator belongs to one thread at a time. Any thread may call tuttiDeviceCommAbort and
 * tuttiDeviceCommGetAsyncError at any time.
 *
 * A libtutti that was built without CUDA has these functions too: they return tuttiUnsupported. No header of CUDA is
 * needed here.
 *
 * Not there: sends and receives, scans, gather and scatter, blocks of different sizes, users' operators. */
#ifndef TUTTI_DEVICE_H
#define TUTTI_DEVICE_H

#include <tutti/tutti.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tuttiDeviceComm* tuttiDeviceComm_t;
/* The same type as cudaStream_t and CUstream. */
typedef struct CUstream_st* tuttiDeviceStream_t;

/* A device communicator of the ranks of comm, each with the present device of its thread (cudaSetDevice). All ranks of
 * comm call it; all succeed, or all return an error. comm may be used and destroyed as before. config overrides the
 * settings of comm; it may be NULL. The variables TUTTI_DEVICE_ALGORITHM, TUTTI_DEVICE_TABLE and TUTTI_DEVICE_CHANNELS
 * must be equal on all ranks.
 *
 * For tests, ranks may share a device. If they are processes, the device runs them in turn, which is slow. If they are
 * threads, each gets a part of its multiprocessors, and their kernels wait for each other. Then whatever waits for more
 * than its own stream may hang: CUDA_DEVICE_MAX_CONNECTIONS must be 32 before the program starts, no rank may have or
 * free memory of CUDA's while another is in a call that this one has not made yet, and a rank synchronises its stream
 * before it copies from or to the host. */
TUTTI_API tuttiResult_t tuttiDeviceCommInit(tuttiDeviceComm_t* device_comm, tuttiComm_t comm,
                                            const tuttiConfig_t* config);
/* Waits for what this rank has put into streams of its device, then frees all, symmetric memory too. Any thread may
 * call it once no other is in a call of device_comm. Every later call with this device_comm returns tuttiInvalidUsage.
 */
TUTTI_API tuttiResult_t tuttiDeviceCommDestroy(tuttiDeviceComm_t device_comm);
/* Ends this rank's calls on the device with an error, and so those of the ranks that wait for it. */
TUTTI_API tuttiResult_t tuttiDeviceCommAbort(tuttiDeviceComm_t device_comm);
TUTTI_API tuttiResult_t tuttiDeviceCommCount(tuttiDeviceComm_t device_comm, int* count);
TUTTI_API tuttiResult_t tuttiDeviceCommUserRank(tuttiDeviceComm_t device_comm, int* rank);
/* What went wrong in calls that the device has ended, or tuttiSuccess. Synchronise the stream first to learn of all
 * calls in it. tuttiGetLastError(NULL) has the words. */
TUTTI_API tuttiResult_t tuttiDeviceCommGetAsyncError(tuttiDeviceComm_t device_comm, tuttiResult_t* async_error);

/* Symmetric memory of the device, zeroed. All ranks call with the same size, not 0, in the same order. Each call takes
 * whole pages of the device, of 2 MB: put small buffers into one. tuttiDeviceMemFree waits for the work of all ranks'
 * devices. What is not freed is freed by tuttiDeviceCommDestroy. */
TUTTI_API tuttiResult_t tuttiDeviceMemAlloc(void** memory, size_t bytes, tuttiDeviceComm_t device_comm);
TUTTI_API tuttiResult_t tuttiDeviceMemFree(void* memory, tuttiDeviceComm_t device_comm);
/* Makes memory symmetric that the program has from CUDA's virtual memory management with handles that are descriptors:
 * of cuMemCreate, of ncclMemAlloc, or of PyTorch with expandable segments. All ranks call with equal sizes. Memory of
 * cudaMalloc is refused on all ranks, with tuttiUnsupported. Deregister before the memory is freed. */
TUTTI_API tuttiResult_t tuttiDeviceCommRegister(tuttiDeviceComm_t device_comm, void* buffer, size_t bytes);
TUTTI_API tuttiResult_t tuttiDeviceCommDeregister(tuttiDeviceComm_t device_comm, void* buffer);

/* What the functions of these names in tutti.h do, once the stream gets there. */
TUTTI_API tuttiResult_t tuttiDeviceAllReduce(const void* sendbuff, void* recvbuff, size_t count,
                                             tuttiDataType_t datatype, tuttiRedOp_t op, tuttiDeviceComm_t device_comm,
                                             tuttiDeviceStream_t stream);
TUTTI_API tuttiResult_t tuttiDeviceAllGather(const void* sendbuff, void* recvbuff, size_t sendcount,
                                             tuttiDataType_t datatype, tuttiDeviceComm_t device_comm,
                                             tuttiDeviceStream_t stream);
TUTTI_API tuttiResult_t tuttiDeviceReduceScatter(const void* sendbuff, void* recvbuff, size_t recvcount,
                                                 tuttiDataType_t datatype, tuttiRedOp_t op,
                                                 tuttiDeviceComm_t device_comm, tuttiDeviceStream_t stream);
TUTTI_API tuttiResult_t tuttiDeviceBroadcast(const void* sendbuff, void* recvbuff, size_t count,
                                             tuttiDataType_t datatype, int root, tuttiDeviceComm_t device_comm,
                                             tuttiDeviceStream_t stream);
TUTTI_API tuttiResult_t tuttiDeviceBcast(void* buff, size_t count, tuttiDataType_t datatype, int root,
                                         tuttiDeviceComm_t device_comm, tuttiDeviceStream_t stream);
TUTTI_API tuttiResult_t tuttiDeviceReduce(const void* sendbuff, void* recvbuff, size_t count, tuttiDataType_t datatype,
                                          tuttiRedOp_t op, int root, tuttiDeviceComm_t device_comm,
                                          tuttiDeviceStream_t stream);
TUTTI_API tuttiResult_t tuttiDeviceAlltoAll(const void* sendbuff, void* recvbuff, size_t count,
                                            tuttiDataType_t datatype, tuttiDeviceComm_t device_comm,
                                            tuttiDeviceStream_t stream);

/* Each rank's input is multiplied by that rank's *scalar (of type datatype, in memory of the host, read at once) before
 * the sum. All ranks make the same operators in the same order. They live as long as device_comm. */
TUTTI_API tuttiResult_t tuttiDeviceRedOpCreatePreMulSum(tuttiRedOp_t* op, const void* scalar, tuttiDataType_t datatype,
                                                        tuttiDeviceComm_t device_comm);

/* The algorithm of such a call, and the reason: "one_shot", "by the table". Both live as long as device_comm. The
 * collective has its name in `tutti algorithms`, such as "all_gather". */
TUTTI_API tuttiResult_t tuttiDeviceGetAlgorithm(const char* collective, const void* sendbuff, const void* recvbuff,
                                                size_t count, tuttiDataType_t datatype, tuttiRedOp_t op, int root,
                                                tuttiDeviceComm_t device_comm, const char** algorithm,
                                                const char** why);

#ifdef __cplusplus
}
#endif

#endif /* TUTTI_DEVICE_H */
