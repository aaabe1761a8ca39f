# Headers that take longer to read than most sources take to compile are read once per target:
# weft_precompile(TARGET [KEEP_WARNINGS] HEADER...). A compiler cache cannot use them. -DWEFT_PRECOMPILE=OFF shows whether each
# source includes what it names.
# GCC 12 forgets that a precompiled <string> is the system's, and shows the false warnings it has there when it optimises. So
# these are off in such targets, unless the headers do without <string>. The optimised library is not precompiled and has them.
option(WEFT_PRECOMPILE "read large headers of other projects once per target" ${PROJECT_IS_TOP_LEVEL})
function(weft_precompile target)
  cmake_parse_arguments(PARSE_ARGV 1 weft "KEEP_WARNINGS" "" "")
  if(NOT WEFT_PRECOMPILE OR CMAKE_CXX_COMPILER_LAUNCHER)
    return()
  endif()
  foreach(header IN LISTS weft_UNPARSED_ARGUMENTS)
    target_precompile_headers(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:<${header}$<ANGLE-R>>)
  endforeach()
  if(NOT weft_KEEP_WARNINGS)
    target_compile_options(${target} PRIVATE
      $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-stringop-overflow;-Wno-stringop-overread;-Wno-array-bounds>)
  endif()
endfunction()
set(weft_standard_headers algorithm array atomic charconv functional map memory mutex numeric optional span string vector)
