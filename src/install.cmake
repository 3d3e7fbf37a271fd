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

# What a program links beside the static library, as paths of libraries that were found here. libhdf5, where it is shared,
# knows what it needs itself.
set(paths "")
if(NDREDUCE_WITH_HDF5)
  list(GET HDF5_C_LIBRARIES 0 hdf5_library)
  if(hdf5_library MATCHES "\\.a$")
    list(APPEND paths ${HDF5_C_LIBRARIES})
  else()
    list(APPEND paths ${hdf5_library})
  endif()
endif()
foreach(codec IN LISTS NDREDUCE_CODECS)
  if(NDREDUCE_WITH_${codec})
    list(APPEND paths ${${codec}_LIBRARY})
  endif()
endforeach()
if(NDREDUCE_WITH_CUDA)
  list(APPEND paths ${CUDA_cudart_static_LIBRARY})
endif()

# The same by name, for pkg-config and for ndreduce-config.cmake: a library there may be a static one, or lie elsewhere.
set(NDREDUCE_SYSTEM_LIBRARIES m pthread ${CMAKE_DL_LIBS})
if(NDREDUCE_WITH_CUDA)
  list(APPEND NDREDUCE_SYSTEM_LIBRARIES rt)
endif()
set(NDREDUCE_STATIC_FOLDERS "")
set(NDREDUCE_STATIC_LIBRARIES "")
foreach(path IN LISTS paths)
  get_filename_component(folder ${path} DIRECTORY)
  get_filename_component(name ${path} NAME)
  string(REGEX REPLACE "^lib(.*)\\.(a|so[0-9.]*)$" "\\1" name ${name})
  list(APPEND NDREDUCE_STATIC_LIBRARIES ${name})
  list(APPEND NDREDUCE_STATIC_FOLDERS ${folder})
endforeach()
list(REMOVE_DUPLICATES NDREDUCE_STATIC_FOLDERS)
list(REMOVE_DUPLICATES NDREDUCE_STATIC_LIBRARIES)
list(REMOVE_ITEM NDREDUCE_STATIC_LIBRARIES ${NDREDUCE_SYSTEM_LIBRARIES})
set(libraries ${NDREDUCE_STATIC_LIBRARIES} ${NDREDUCE_SYSTEM_LIBRARIES})
set(folders ${NDREDUCE_STATIC_FOLDERS})
list(REMOVE_ITEM folders ${CMAKE_C_IMPLICIT_LINK_DIRECTORIES})
list(TRANSFORM folders PREPEND -L)
list(TRANSFORM libraries PREPEND -l)
string(JOIN " " NDREDUCE_PC_PRIVATE ${folders} ${libraries})

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
