# Headers, the shared library, the command line and a package that find_package(elbowroom) finds, wherever the prefix is moved.
include(CMakePackageConfigHelpers)

install(TARGETS elbowroom EXPORT elbowroomTargets
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}"
  INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(TARGETS elbowroom_tool RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
# `elbowroom run` looks for it here, from where the program lies.
install(TARGETS elbowroom_interposer elbowroom_interposer_hip LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
if(TARGET elbowroom_recorder)
  install(TARGETS elbowroom_recorder LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
endif()
if(NOT SKBUILD)  # a wheel has its licence, and the Python part as the package around the program
  install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}")
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/python/elbowroom" DESTINATION "${CMAKE_INSTALL_DATADIR}/elbowroom/python" FILES_MATCHING PATTERN "*.py")
endif()
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/elbowroom" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" FILES_MATCHING PATTERN "*.hpp")

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/elbowroom")
install(EXPORT elbowroomTargets NAMESPACE elbowroom:: DESTINATION "${package_dir}")
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/elbowroomConfig.cmake.in" "${PROJECT_BINARY_DIR}/elbowroomConfig.cmake"
  INSTALL_DESTINATION "${package_dir}")
# Before 1.0 a minor version may break the interface.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/elbowroomConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/elbowroomConfig.cmake" "${PROJECT_BINARY_DIR}/elbowroomConfigVersion.cmake" DESTINATION "${package_dir}")
