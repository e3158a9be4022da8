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
  foreach(example IN ITEMS own_launches.cpp plan_residency.cpp tune_and_bench.cpp shaped_launch.cu)
    install(FILES "${PROJECT_SOURCE_DIR}/examples/${example}" DESTINATION "${CMAKE_INSTALL_DOCDIR}/examples")
  endforeach()
  # What the program says of itself, where it can run here.
  if(NOT CMAKE_CROSSCOMPILING)
    foreach(form IN ITEMS "bash:bash-completion/completions/elbowroom" "zsh:zsh/site-functions/_elbowroom" "man:man/man1/elbowroom.1")
      string(REGEX MATCH "^([a-z]+):(.*)/([^/]+)$" parts "${form}")
      set(shell "${CMAKE_MATCH_1}")
      set(folder "${CMAKE_MATCH_2}")
      set(file "${CMAKE_MATCH_3}")
      install(CODE "execute_process(COMMAND \"$<TARGET_FILE:elbowroom_tool>\" completion ${shell}
        OUTPUT_FILE \"${PROJECT_BINARY_DIR}/${file}\" COMMAND_ERROR_IS_FATAL ANY)")
      install(FILES "${PROJECT_BINARY_DIR}/${file}" DESTINATION "${CMAKE_INSTALL_DATADIR}/${folder}")
    endforeach()
  endif()
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/python/elbowroom" DESTINATION "${CMAKE_INSTALL_DATADIR}/elbowroom/python" FILES_MATCHING PATTERN "*.py")
endif()
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/elbowroom" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" FILES_MATCHING PATTERN "*.hpp")

# Of pkg-config; it finds its prefix from where it lies.
file(RELATIVE_PATH prefix_from_here "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
string(REGEX REPLACE "/$" "" prefix_from_here "${prefix_from_here}")
configure_file("${PROJECT_SOURCE_DIR}/cmake/elbowroom.pc.in" "${PROJECT_BINARY_DIR}/elbowroom.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/elbowroom.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/elbowroom")
install(EXPORT elbowroomTargets NAMESPACE elbowroom:: DESTINATION "${package_dir}")
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/elbowroomConfig.cmake.in" "${PROJECT_BINARY_DIR}/elbowroomConfig.cmake"
  INSTALL_DESTINATION "${package_dir}")
# Before 1.0 a minor version may break the interface.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/elbowroomConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/elbowroomConfig.cmake" "${PROJECT_BINARY_DIR}/elbowroomConfigVersion.cmake" DESTINATION "${package_dir}")
