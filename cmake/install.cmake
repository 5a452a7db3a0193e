# Install target, pkg-config file and CMake package. Both package files find everything from where they
# lie, so that a prefix may be moved or chosen at install time (cmake --install BUILD --prefix DIR).
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/meniscus)
set(pkgconfig_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

install(TARGETS meniscus EXPORT meniscus-targets)
install(TARGETS meniscus_program)
install(DIRECTORY include/meniscus TYPE INCLUDE FILES_MATCHING PATTERN "*.h")
install(FILES LICENSE docs/licences.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES docs/meniscus.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 OPTIONAL)

# The program finds a shared libmeniscus beside itself, wherever the prefix is.
file(RELATIVE_PATH bin_to_lib /${CMAKE_INSTALL_BINDIR} /${CMAKE_INSTALL_LIBDIR})
set_target_properties(meniscus_program PROPERTIES INSTALL_RPATH "$ORIGIN/${bin_to_lib}")

# CMake: find_package(meniscus), target meniscus::meniscus.
install(EXPORT meniscus-targets NAMESPACE meniscus:: DESTINATION ${package_dir})
get_target_property(library_type meniscus TYPE)
configure_package_config_file(cmake/meniscusConfig.cmake.in
  ${PROJECT_BINARY_DIR}/package/meniscusConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/package/meniscusConfigVersion.cmake
  COMPATIBILITY SameMinorVersion) # before 1.0 a minor version may change the interface
install(FILES ${PROJECT_BINARY_DIR}/package/meniscusConfig.cmake
  ${PROJECT_BINARY_DIR}/package/meniscusConfigVersion.cmake DESTINATION ${package_dir})

# pkg-config: --static adds what the static library needs. LAPACK and BLAS stand among the libraries, not in
# Requires.private: their own --static flags are for static copies of them and ask for a Fortran compiler.
string(JOIN " " private_libs ${LAPACKE_LDFLAGS} ${OPENBLAS_LDFLAGS})
foreach(library ${SPARSE_LIBRARIES})
  get_filename_component(name ${library} NAME_WE)
  string(REGEX REPLACE "^lib" "" name ${name})
  string(APPEND private_libs " -l${name}")
endforeach()
foreach(name ${OpenMP_C_LIB_NAMES})
  string(APPEND private_libs " -l${name}")
endforeach()
string(STRIP "${private_libs}" private_libs)
file(RELATIVE_PATH pc_to_prefix /${pkgconfig_dir} /)
string(REGEX REPLACE "/$" "" pc_to_prefix ${pc_to_prefix})
configure_file(cmake/meniscus.pc.in ${PROJECT_BINARY_DIR}/package/meniscus.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/package/meniscus.pc DESTINATION ${pkgconfig_dir})
