# Writes OUTPUT, a header with the commit of SOURCE, when it has changed. Run at build time: cmake -DSOURCE= -DOUTPUT= -P.
# Where the source is a plain copy without git, .device-deps/commit may tell (see tools/gpu-deps).
execute_process(COMMAND git -C ${SOURCE} describe --always --dirty --abbrev=12 --exclude=*
                OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
if(failed)
  set(commit "unknown")
  if(EXISTS ${SOURCE}/.device-deps/commit)
    file(READ ${SOURCE}/.device-deps/commit commit)
    string(STRIP "${commit}" commit)
  endif()
endif()
set(text "#pragma once\n\nnamespace weft::bench {\ninline const char* commit() { return \"${commit}\"; }\n}\n")
set(before "")
if(EXISTS ${OUTPUT})
  file(READ ${OUTPUT} before)
endif()
if(NOT before STREQUAL text)
  file(WRITE ${OUTPUT} "${text}")
endif()
