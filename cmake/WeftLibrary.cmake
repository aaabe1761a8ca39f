# The library. Sources are found by their place (see docs/architecture.md): a new format is a new folder, no edit here.
#   src/**/*.cpp             compiled once
#   src/formats/*/cpu.cpp    compiled once per instruction set, in namespace weft::WEFT_ISA_NAMESPACE
#   src/formats/*/gpu.cu     compiled by nvcc (namespace weft::on_cuda) and, for the emulator, by the C++ compiler
#                            (namespace weft::on_emulator)
file(GLOB_RECURSE weft_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/*.cpp)
list(FILTER weft_sources EXCLUDE REGEX "_test\\.cpp$")
list(FILTER weft_sources EXCLUDE REGEX "src/simt/emulator")
set(weft_isa_sources ${weft_sources})
list(FILTER weft_isa_sources INCLUDE REGEX "/cpu\\.cpp$")
list(FILTER weft_sources EXCLUDE REGEX "/cpu\\.cpp$")
file(GLOB_RECURSE weft_gpu_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/*.cu)
list(FILTER weft_gpu_sources EXCLUDE REGEX "/selftest\\.cu$")  # part of the tests

# Generated matrices have the same bits on every machine, so none may fuse a multiplication with an addition.
set(weft_generators ${weft_sources})
list(FILTER weft_generators INCLUDE REGEX "/src/generate/")
set_source_files_properties(${weft_generators} PROPERTIES COMPILE_OPTIONS -ffp-contract=off)

add_library(weft ${weft_sources})
add_library(weft::weft ALIAS weft)
# No DEFINE_SYMBOL: a static and a shared library have the same objects, so that a build folder becomes the other by linking.
set_target_properties(weft PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION 0 DEFINE_SYMBOL "")
target_compile_features(weft PUBLIC cxx_std_20)
target_include_directories(weft PUBLIC
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_include_directories(weft PRIVATE ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(weft PRIVATE $<BUILD_INTERFACE:weft_defaults> OpenMP::OpenMP_CXX Threads::Threads)
if(ZLIB_FOUND)
  target_link_libraries(weft PRIVATE ZLIB::ZLIB)
  target_compile_definitions(weft PRIVATE WEFT_HAS_ZLIB)
endif()
if(LIBLZMA_FOUND)
  target_link_libraries(weft PRIVATE LibLZMA::LibLZMA)
  target_compile_definitions(weft PRIVATE WEFT_HAS_LZMA)
endif()
if(AMD_FOUND)
  # By name, not by path, so that what is installed does not tell where it was built.
  get_filename_component(weft_amd_folder ${WEFT_AMD_LIBRARY} DIRECTORY)
  target_include_directories(weft SYSTEM PRIVATE ${WEFT_AMD_INCLUDE})
  target_link_directories(weft PUBLIC $<BUILD_INTERFACE:${weft_amd_folder}>)
  target_link_libraries(weft PRIVATE amd)
  target_compile_definitions(weft PRIVATE WEFT_HAS_AMD)
endif()
if(METIS_FOUND)
  get_filename_component(weft_metis_folder ${WEFT_METIS_LIBRARY} DIRECTORY)
  target_include_directories(weft SYSTEM PRIVATE ${WEFT_METIS_INCLUDE})
  target_link_directories(weft PUBLIC $<BUILD_INTERFACE:${weft_metis_folder}>)
  target_link_libraries(weft PRIVATE metis)
  target_compile_definitions(weft PRIVATE WEFT_HAS_METIS)
endif()

# Fuzzers watch which lines an input reaches. Products of a plan are not what they look for.
if(WEFT_BUILD_FUZZERS)
  set_property(SOURCE ${weft_sources} APPEND PROPERTY COMPILE_OPTIONS -fsanitize=fuzzer-no-link)
endif()

# CPU kernels, once per instruction set, optimised in every build type; a little only under sanitizers, where unrolled
# kernels would compile for minutes. They say themselves what is to be a vector: left to the
# compiler, short rows are summed through wide registers, which is slower (bench/NOTES.md).
set(weft_no_loop_vectorizer $<IF:$<CXX_COMPILER_ID:GNU>,-fno-tree-loop-vectorize,-fno-vectorize>)
set(weft_kernel_optimisation -O3)
if(WEFT_SANITIZE)
  set(weft_kernel_optimisation -O1)
endif()
set(weft_isas baseline)
if(WEFT_X86_KERNELS AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  list(APPEND weft_isas avx2 avx512)
  target_compile_definitions(weft PRIVATE WEFT_X86)
endif()
set(weft_isa_flags_baseline "")
set(weft_isa_flags_avx2 -mavx2 -mfma -mbmi2)
set(weft_isa_flags_avx512 -mavx512f -mavx512dq -mavx512bw -mavx512vl -mavx2 -mfma -mbmi2)
foreach(isa IN LISTS weft_isas)
  add_library(weft_kernels_${isa} OBJECT ${weft_isa_sources})
  target_compile_definitions(weft_kernels_${isa} PRIVATE WEFT_ISA_NAMESPACE=isa_${isa})
  target_compile_options(weft_kernels_${isa} PRIVATE ${weft_isa_flags_${isa}} ${weft_kernel_optimisation} -fno-math-errno -ffp-contract=fast
    ${weft_no_loop_vectorizer})
  target_include_directories(weft_kernels_${isa} PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(weft_kernels_${isa} PRIVATE weft_defaults OpenMP::OpenMP_CXX)
  target_sources(weft PRIVATE $<TARGET_OBJECTS:weft_kernels_${isa}>)
endforeach()

if(WEFT_EMULATOR)
  file(GLOB weft_emulator_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/simt/emulator*.cpp)
  set(weft_emulated)
  foreach(source IN LISTS weft_gpu_sources)
    file(RELATIVE_PATH name ${PROJECT_SOURCE_DIR}/src ${source})
    string(REPLACE "/" "_" name ${name})
    set(wrapper ${PROJECT_BINARY_DIR}/emulated/${name}.cpp)
    file(CONFIGURE OUTPUT ${wrapper} CONTENT "#include \"${source}\"\n")
    list(APPEND weft_emulated ${wrapper})
  endforeach()
  target_sources(weft PRIVATE ${weft_emulator_sources} ${weft_emulated})
  # The emulator is for tests: -O3 compiles twice as long as -O2 and runs as long.
  set_property(SOURCE ${weft_emulated} APPEND PROPERTY COMPILE_OPTIONS $<$<CONFIG:Release>:-O2>)
  set_source_files_properties(${weft_emulated} PROPERTIES COMPILE_DEFINITIONS WEFT_SIMT_EMULATED)
  target_compile_definitions(weft PRIVATE WEFT_HAS_EMULATOR)
  if(WEFT_SANITIZE MATCHES "undefined" AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    # With this check clang compiles some kernels for minutes; the address sanitizer finds what it would find.
    set_property(SOURCE ${weft_emulated} APPEND PROPERTY COMPILE_OPTIONS -fno-sanitize=object-size)
  endif()
endif()

if(WEFT_HAS_CUDA)
  target_sources(weft PRIVATE ${weft_gpu_sources})
  # CMake 3.25 does not know CUDA C++20.
  set(weft_cuda_flags
    $<$<COMPILE_LANGUAGE:CUDA>:-std=c++20;--expt-relaxed-constexpr;-lineinfo;-Xcompiler=-Wall,-Wextra,-Wno-restrict,-fopenmp;--Werror=cross-execution-space-call>)
  target_compile_options(weft PRIVATE ${weft_cuda_flags})
  set_target_properties(weft PROPERTIES CUDA_RUNTIME_LIBRARY Static CUDA_STANDARD_REQUIRED OFF)
  target_compile_definitions(weft PRIVATE WEFT_HAS_CUDA)
  target_link_libraries(weft PRIVATE CUDA::cudart_static)
endif()
