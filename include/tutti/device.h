// SPDX-License-Identifier: Apache-2.0
/* Tutti on CUDA devices: collectives on device memory, put into streams.
 *
 * Names and shapes are NCCL's, so that NCCL's users port by renaming: nccl... becomes tuttiDevice.... A device
 * communicator is made from an ordinary one (tutti.h), by which its ranks meet. Each rank is a process or a thread, and
 * has one device. All ranks are on one host.
 *
 * Calls put their work into the stream and return. The work starts when all earlier work in the stream is done, and
 * later work in the stream waits for the result. Calls of one communicator run one after another, also if they are in
 * different streams. CUDA graphs can capture calls, and can be launched any number of times until the communicator is
 * destroyed; all ranks capture and launch alike. The program orders graphs, and parallel branches of a graph: no two of
 * their calls on one communicator may run at once. All ranks make the same calls in the same order, with equal count,
 * type, operator and root. Either all ranks call in place, or none. Buffers lie on the rank's device, at a multiple of
 * the type's size.
 *
 * Memory. Calls are fastest if the buffers of every rank are symmetric: allocated by tuttiDeviceMemAlloc, or registered
 * (tuttiDeviceCommRegister). Then the ranks read and write them where they lie. Other buffers are copied through slots.
 * Some algorithms need symmetric buffers. If one rank passes symmetric buffers, all must.
 *
 * Errors. A call that is wrong by itself returns the error at once, and does nothing. Errors on the device are
 * reported later: the call's kernel ends, and later calls and tuttiDeviceCommGetAsyncError return the error. This
 * happens if a rank is lost, is late by TUTTI_TIMEOUT, has aborted or destroyed its part, or if ranks make different
 * calls. Outputs of such calls are worthless, and the device communicator can only be destroyed. Other ranks may read
 * and write the buffers of such calls until they have destroyed theirs. tuttiGetLastError (tutti.h) returns the
 * message.
 *
 * A device communicator belongs to one thread at a time. Any thread may call tuttiDeviceCommAbort and
 * tuttiDeviceCommGetAsyncError until tuttiDeviceCommDestroy is called. A forked child can only destroy its copy.
 *
 * A libtutti that was built without CUDA has these functions too: they return tuttiUnsupported. No header of CUDA is
 * needed here.
 *
 * Missing: sends and receives, scans, gather and scatter, blocks of different sizes, users' operators. */
#ifndef TUTTI_DEVICE_H
#define TUTTI_DEVICE_H

#include <tutti/tutti.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tuttiDeviceComm* tuttiDeviceComm_t;
/* The same type as cudaStream_t and CUstream. */
typedef struct CUstream_st* tuttiDeviceStream_t;

/* A device communicator of the ranks of comm, each with the current device of its thread (cudaSetDevice). All ranks of
 * comm call it; all succeed, or all return an error. comm may be used and destroyed as before. config overrides the
 * settings of comm; it may be NULL. The variables TUTTI_DEVICE_ALGORITHM, TUTTI_DEVICE_TABLE,
 * TUTTI_DEVICE_CHANNELS and TUTTI_P2P_USE_MEMCPY must be equal on all ranks.
 *
 * For tests, ranks may share a device. If they are processes, the device runs them in turn, which is slow. If they are
 * threads, each gets a part of its multiprocessors, and their kernels wait for each other. Then whatever waits for more
 * than its own stream may hang. So three rules apply. CUDA_DEVICE_MAX_CONNECTIONS must be 32 before the program starts.
 * No rank may allocate or free CUDA memory while another is in a call that this one has not made yet. A rank must
 * synchronise its stream before it copies from or to the host. */
TUTTI_API tuttiResult_t tuttiDeviceCommInit(tuttiDeviceComm_t* device_comm, tuttiComm_t comm,
                                            const tuttiConfig_t* config);
/* Waits for this rank's calls and, if it has captured calls or has symmetric memory, for all work of its device. Then
 * it frees all, symmetric memory too. Any thread may call it once no other is in a call of device_comm. Every later
 * call with this device_comm returns tuttiInvalidUsage.
 */
TUTTI_API tuttiResult_t tuttiDeviceCommDestroy(tuttiDeviceComm_t device_comm);
/* Ends this rank's calls on the device with an error, and so those of the ranks that wait for it. */
TUTTI_API tuttiResult_t tuttiDeviceCommAbort(tuttiDeviceComm_t device_comm);
TUTTI_API tuttiResult_t tuttiDeviceCommCount(tuttiDeviceComm_t device_comm, int* count);
TUTTI_API tuttiResult_t tuttiDeviceCommUserRank(tuttiDeviceComm_t device_comm, int* rank);
/* What went wrong in calls that the device has ended, or tuttiSuccess. Synchronise the stream first to learn of all
 * calls in it. tuttiGetLastError(NULL) returns the message. */
TUTTI_API tuttiResult_t tuttiDeviceCommGetAsyncError(tuttiDeviceComm_t device_comm, tuttiResult_t* async_error);

/* Symmetric memory of the device, zeroed. All ranks call with the same size, not 0, in the same order. Each call takes
 * whole device pages of 2 MB: put small buffers into one call's memory. tuttiDeviceMemFree waits for the work of all
 * ranks' devices, so ranks free in the same order over all communicators of a device. What is not freed is freed by
 * tuttiDeviceCommDestroy. */
TUTTI_API tuttiResult_t tuttiDeviceMemAlloc(void** memory, size_t bytes, tuttiDeviceComm_t device_comm);
TUTTI_API tuttiResult_t tuttiDeviceMemFree(void* memory, tuttiDeviceComm_t device_comm);
/* Makes the program's own memory symmetric. It comes from cudaMalloc, or from CUDA's virtual memory management with
 * handles that are file descriptors (cuMemCreate, ncclMemAlloc, PyTorch with expandable segments); from the same on all
 * ranks. All ranks call with equal sizes. A buffer lies in one allocation, the whole of which other ranks can then
 * reach. Other memory, such as that of cudaMallocManaged or cudaMallocAsync, is refused on all ranks with
 * tuttiUnsupported; so is memory of cudaMalloc if ranks are threads with different devices. Before you free
 * the memory, deregister it or destroy the device communicators of all ranks. */
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
 * the sum. All ranks make and destroy the same operators in the same order. The rest ends with device_comm. */
TUTTI_API tuttiResult_t tuttiDeviceRedOpCreatePreMulSum(tuttiRedOp_t* op, const void* scalar, tuttiDataType_t datatype,
                                                        tuttiDeviceComm_t device_comm);
TUTTI_API tuttiResult_t tuttiDeviceRedOpDestroy(tuttiRedOp_t op, tuttiDeviceComm_t device_comm);

/* The algorithm that such a call takes, and the reason: "one_shot", "by the table". Both texts live as long as
 * device_comm. `collective` is a name that `tutti algorithms` lists, such as "all_gather". */
TUTTI_API tuttiResult_t tuttiDeviceGetAlgorithm(const char* collective, const void* sendbuff, const void* recvbuff,
                                                size_t count, tuttiDataType_t datatype, tuttiRedOp_t op, int root,
                                                tuttiDeviceComm_t device_comm, const char** algorithm,
                                                const char** why);

#ifdef __cplusplus
}
#endif

#endif /* TUTTI_DEVICE_H */
