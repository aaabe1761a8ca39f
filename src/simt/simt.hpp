#pragma once

// What a .cu file includes, with warp.cuh. The file is compiled twice: by nvcc for GPUs, and by the C++ compiler, with
// WEFT_SIMT_EMULATED defined, for the emulator. Everything in it stands in namespace weft::WEFT_SIMT_NAMESPACE.
//
//   WEFT_SHARED(T, name, count);                          an array of the block, instead of __shared__ T name[count]
//   WEFT_DYNAMIC_SHARED(T, name, count[, byte_offset]);   the same in the memory that the launch asked for
//   simt::Shared<T>                                       how a device function takes either: T* on a GPU
//   simt::launch(WEFT_KERNEL(kernel<A, B>), grid, block, shared_bytes, stream, arguments...)
//                                                         throws Error("kernel NAME: ..."); no blocks, no launch
//   simt::launch_early(...)                               the same, but it may start while the kernel before it runs:
//                                                         it calls simt::wait_for_earlier_kernels() first of all
//   WEFT_UNROLL                                           before a loop: #pragma unroll, for nvcc only
//   WEFT_KEEP_LOOP                                        before a loop that nvcc must not unroll: it costs registers
//   simt::blocks_for(items, per_block)                    a grid's size, checked
//
// README.md in this folder has an example and the few rules that follow from having two worlds.
#ifdef WEFT_SIMT_EMULATED
#define WEFT_SIMT_NAMESPACE on_emulator
#define WEFT_UNROLL
#define WEFT_KEEP_LOOP
#include "simt/emulator.hpp"
#else
#define WEFT_SIMT_NAMESPACE on_cuda
#define WEFT_UNROLL _Pragma("unroll")
#define WEFT_KEEP_LOOP _Pragma("unroll 1")
#include "simt/cuda.hpp"
#endif

// Variadic because of the commas between template arguments.
#define WEFT_KERNEL(...) ::weft::simt::make_kernel(#__VA_ARGS__, __VA_ARGS__)
