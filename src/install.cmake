# What `cmake --install` lays down, and what other builds find it by.
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/ndreduce)

install(FILES ${PROJECT_SOURCE_DIR}/include/ndreduce/ndreduce.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/ndreduce)
if(NDREDUCE_WITH_HDF5 AND EXISTS ${PROJECT_SOURCE_DIR}/include/ndreduce/h5.h)
  install(FILES ${PROJECT_SOURCE_DIR}/include/ndreduce/h5.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/ndreduce)
endif()

install(TARGETS ndreduce EXPORT ndreduce-targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS ndreduce_static EXPORT ndreduce-static-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
foreach(export IN ITEMS ndreduce-targets ndreduce-static-targets)
  install(EXPORT ${export} NAMESPACE ndreduce:: DESTINATION ${package_dir})
endforeach()

set(NDREDUCE_STATIC_DEPENDENCIES Threads)
set(NDREDUCE_PC_PRIVATE "-lm ${CMAKE_THREAD_LIBS_INIT}")
if(CMAKE_DL_LIBS)
  string(APPEND NDREDUCE_PC_PRIVATE " -l${CMAKE_DL_LIBS}")
endif()
if(OpenMP_C_FOUND)
  list(APPEND NDREDUCE_STATIC_DEPENDENCIES OpenMP)
  string(APPEND NDREDUCE_PC_PRIVATE " ${OpenMP_C_FLAGS}")
endif()
if(NDREDUCE_WITH_HDF5)
  list(APPEND NDREDUCE_STATIC_DEPENDENCIES HDF5)
  # The first of the libraries is libhdf5 itself; when it is shared it knows the rest.
  list(GET HDF5_C_LIBRARIES 0 hdf5_library)
  string(APPEND NDREDUCE_PC_PRIVATE " ${hdf5_library}")
  foreach(codec IN LISTS NDREDUCE_CODECS)
    if(NDREDUCE_WITH_${codec})
      string(APPEND NDREDUCE_PC_PRIVATE " ${${codec}_LIBRARY}")
    endif()
  endforeach()
endif()
if(NDREDUCE_WITH_CUDA)
  list(APPEND NDREDUCE_STATIC_DEPENDENCIES CUDAToolkit)
  string(APPEND NDREDUCE_PC_PRIVATE " ${CUDA_cudart_static_LIBRARY} -lrt")
endif()
string(REPLACE ";" " " NDREDUCE_STATIC_DEPENDENCIES "${NDREDUCE_STATIC_DEPENDENCIES}")
string(REPLACE ";" " " NDREDUCE_STATIC_LIBRARIES "${NDREDUCE_CODEC_LIBRARIES}")

if(NOT DLPACK_INCLUDE_DIR IN_LIST CMAKE_C_IMPLICIT_INCLUDE_DIRECTORIES)
  set(NDREDUCE_PC_DLPACK " -I${DLPACK_INCLUDE_DIR}")
endif()
file(RELATIVE_PATH NDREDUCE_PC_PREFIX /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
string(REGEX REPLACE "/$" "" NDREDUCE_PC_PREFIX ${NDREDUCE_PC_PREFIX})
configure_file(${CMAKE_CURRENT_LIST_DIR}/ndreduce.pc.in ndreduce.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/ndreduce.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/ndreduce-config.cmake.in ndreduce-config.cmake
                              INSTALL_DESTINATION ${package_dir})
# Until 1.0 a minor version may change the interface.
write_basic_package_version_file(ndreduce-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/ndreduce-config.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/ndreduce-config-version.cmake DESTINATION ${package_dir})

install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
