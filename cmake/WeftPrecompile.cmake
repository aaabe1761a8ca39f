# Headers that take longer to read than most sources take to compile are read once per target: weft_precompile(TARGET HEADER...).
# A compiler cache cannot use them. -DWEFT_PRECOMPILE=OFF shows whether each source includes what it names.
option(WEFT_PRECOMPILE "read large headers of other projects once per target" ${PROJECT_IS_TOP_LEVEL})
function(weft_precompile target)
  if(NOT WEFT_PRECOMPILE OR CMAKE_CXX_COMPILER_LAUNCHER)
    return()
  endif()
  foreach(header IN LISTS ARGN)
    target_precompile_headers(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:<${header}$<ANGLE-R>>)
  endforeach()
endfunction()
set(weft_standard_headers algorithm array atomic charconv functional map memory mutex numeric optional span string vector)
# GCC 12 forgets that a precompiled <string> is the system's, and shows the false warnings it has there when it optimises. The
# library is then compiled without, and so keeps these warnings; targets that need not be fast go without the warnings.
set(weft_no_string_warnings
  $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-stringop-overflow;-Wno-stringop-overread;-Wno-array-bounds>)
