# elbowroom_device_files(TARGET): adds a source with the files of data/devices.
function(elbowroom_device_files target)
  file(GLOB files CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/data/devices/*.json")
  set(generated "${CMAKE_CURRENT_BINARY_DIR}/device_files.cpp")
  set(script "${PROJECT_SOURCE_DIR}/cmake/embed_devices.cmake")
  add_custom_command(OUTPUT "${generated}" COMMAND "${CMAKE_COMMAND}" "-DOUTPUT=${generated}" "-DSOURCES=${files}" -P "${script}"
    DEPENDS "${script}" ${files} COMMENT "Embedding the device files" VERBATIM)
  target_sources(${target} PRIVATE "${generated}")
  set_source_files_properties("${generated}" PROPERTIES COMPILE_OPTIONS "$<$<CXX_COMPILER_ID:Clang>:-Wno-overlength-strings>"
    SKIP_PRECOMPILE_HEADERS ON SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()
