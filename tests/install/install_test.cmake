# cmake -DBUILD=... -DCOMPILER=... -DGENERATOR=... -DBINDIR=... -DWORK=... -DCONSUMER=... -DEXAMPLES=... -P install_test.cmake
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result STREQUAL "0")
    list(JOIN ARGN " " command)
    message(FATAL_ERROR " failed (${result}): ${command}\n${output}")
  endif()
endfunction()

file(REMOVE_RECURSE "${WORK}")
run("${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${WORK}/first")
file(RENAME "${WORK}/first" "${WORK}/moved")

run("${WORK}/moved/${BINDIR}/elbowroom" --version)
set(ENV{XDG_CACHE_HOME} "${WORK}/cache")
run("${WORK}/moved/${BINDIR}/elbowroom" run -- "${CMAKE_COMMAND}" -E true)
# Only this prefix may satisfy the consumer: a package or library of the system would hide a missing one.
run("${CMAKE_COMMAND}" -S "${CONSUMER}" -B "${WORK}/build" -G "${GENERATOR}" "-DCMAKE_CXX_COMPILER=${COMPILER}"
  "-DCMAKE_PREFIX_PATH=${WORK}/moved" "-DEXAMPLES=${EXAMPLES}" -DCMAKE_FIND_USE_CMAKE_SYSTEM_PATH=OFF -DCMAKE_FIND_USE_PACKAGE_REGISTRY=OFF)
run("${CMAKE_COMMAND}" --build "${WORK}/build")
run("${WORK}/build/consumer")
run("${WORK}/build/own_launches")
run("${WORK}/build/tune_and_bench")

# What else a prefix has: the manual page and the completions of this very program.
foreach(file IN ITEMS man/man1/elbowroom.1 bash-completion/completions/elbowroom zsh/site-functions/_elbowroom)
  file(READ "${WORK}/moved/share/${file}" text)
  if(NOT text MATCHES "profile remove|remove")
    message(FATAL_ERROR "share/${file} does not know profile remove")
  endif()
endforeach()
# The same without CMake, by the one header.
find_program(PKG_CONFIG pkg-config)
if(PKG_CONFIG)
  set(ENV{PKG_CONFIG_PATH} "${WORK}/moved/${LIBDIR}/pkgconfig")
  execute_process(COMMAND "${PKG_CONFIG}" --cflags --libs elbowroom OUTPUT_VARIABLE flags OUTPUT_STRIP_TRAILING_WHITESPACE
    COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(flags UNIX_COMMAND "${flags}")
  file(WRITE "${WORK}/one_header.cpp" "#include <elbowroom/elbowroom.hpp>\nint main() { return elbowroom::device_catalog().empty() ? 1 : 0; }\n")
  run("${COMPILER}" "${WORK}/one_header.cpp" -o "${WORK}/one_header" ${flags} "-Wl,-rpath,${WORK}/moved/${LIBDIR}")
  run("${WORK}/one_header")
endif()
