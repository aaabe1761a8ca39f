# Settings every target of this project shares.
if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "build type" FORCE)
endif()
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

find_package(OpenMP REQUIRED COMPONENTS CXX)
find_package(Threads REQUIRED)
find_package(ZLIB QUIET)
find_package(LibLZMA QUIET)

# `weft_defaults` carries warnings (less -Wrestrict, which GCC 12 raises falsely on std::string sums) and, in sanitizer builds, their flags; it is never exported.
add_library(weft_defaults INTERFACE)
target_compile_options(weft_defaults INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wpedantic;-Wshadow;-Wconversion;-Wno-sign-conversion;-Wno-psabi;$<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>>)
if(WEFT_WERROR)
  target_compile_options(weft_defaults INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Werror>)
endif()
set(WEFT_SANITIZE "" CACHE STRING "sanitizers to build with, as for -fsanitize=")
if(WEFT_SANITIZE)
  target_compile_options(weft_defaults INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${WEFT_SANITIZE};-fno-sanitize-recover=all;-fno-omit-frame-pointer;-g1>)
  target_link_options(weft_defaults INTERFACE -fsanitize=${WEFT_SANITIZE})
endif()
option(WEFT_COVERAGE "measure which lines the tests run" OFF)
if(WEFT_COVERAGE)
  target_compile_options(weft_defaults INTERFACE $<$<COMPILE_LANGUAGE:CXX>:--coverage;-O1>)
  target_link_options(weft_defaults INTERFACE --coverage)
endif()
