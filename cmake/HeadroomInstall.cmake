# Headers, the shared library, the command line and a package that find_package(headroom) finds, wherever the prefix is moved.
include(CMakePackageConfigHelpers)

install(TARGETS headroom EXPORT headroomTargets
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}"
  INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(TARGETS headroom_tool RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
# `headroom run` looks for it here, from where the program lies.
install(TARGETS headroom_preload headroom_preload_hip LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/headroom" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" FILES_MATCHING PATTERN "*.hpp")

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/headroom")
install(EXPORT headroomTargets NAMESPACE headroom:: DESTINATION "${package_dir}")
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/headroomConfig.cmake.in" "${PROJECT_BINARY_DIR}/headroomConfig.cmake"
  INSTALL_DESTINATION "${package_dir}")
# Before 1.0 a minor version may break the interface.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/headroomConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/headroomConfig.cmake" "${PROJECT_BINARY_DIR}/headroomConfigVersion.cmake" DESTINATION "${package_dir}")
