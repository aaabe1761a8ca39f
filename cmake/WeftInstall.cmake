# What `cmake --install` leaves behind: the library, its headers, and what find_package(weft) and pkg-config need.
include(CMakePackageConfigHelpers)
get_target_property(weft_type weft TYPE)
set(weft_is_static OFF)
if(weft_type STREQUAL "STATIC_LIBRARY")
  set(weft_is_static ON)
endif()

install(TARGETS weft EXPORT weftTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/weft DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT weftTargets NAMESPACE weft:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/weft)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/weftConfig.cmake.in ${PROJECT_BINARY_DIR}/weftConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/weft)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/weftConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/weftConfig.cmake ${PROJECT_BINARY_DIR}/weftConfigVersion.cmake
              ${PROJECT_SOURCE_DIR}/cmake/FindAMD.cmake ${PROJECT_SOURCE_DIR}/cmake/FindMETIS.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/weft)

# pkg-config: paths relative to the .pc file, so that the installed tree can be moved.
file(RELATIVE_PATH weft_prefix_from_pc /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
string(REGEX REPLACE "/$" "" weft_prefix_from_pc "${weft_prefix_from_pc}")
set(weft_pc_private ${OpenMP_CXX_FLAGS} -pthread)
if(ZLIB_FOUND)
  list(APPEND weft_pc_private -lz)
endif()
if(LIBLZMA_FOUND)
  list(APPEND weft_pc_private -llzma)
endif()
if(AMD_FOUND)
  list(APPEND weft_pc_private -lamd)
endif()
if(METIS_FOUND)
  list(APPEND weft_pc_private -lmetis)
endif()
if(WEFT_HAS_CUDA)
  list(APPEND weft_pc_private -L${CUDAToolkit_LIBRARY_DIR} -lcudart_static -ldl -lrt)
endif()
list(JOIN weft_pc_private " " weft_pc_private)
configure_file(${PROJECT_SOURCE_DIR}/cmake/weft.pc.in ${PROJECT_BINARY_DIR}/weft.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/weft.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
