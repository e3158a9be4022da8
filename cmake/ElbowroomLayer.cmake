# Warnings that every own target is built with; INTERFACE so that they never reach a consumer. nvcc puts parentheses of its own into
# declarations before the host's compiler reads them.
add_library(elbowroom_warnings INTERFACE)
target_compile_options(elbowroom_warnings INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Wold-style-cast
    -Woverloaded-virtual -Wundef $<$<BOOL:${ELBOWROOM_WERROR}>:-Werror>>
  $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra,-Wno-parentheses>
  $<$<AND:$<COMPILE_LANGUAGE:CUDA>,$<BOOL:${ELBOWROOM_WERROR}>>:-Werror=all-warnings>
  $<$<AND:$<COMPILE_LANGUAGE:CUDA>,$<BOOL:${ELBOWROOM_WERROR}>>:-Xcompiler=-Werror>
  # std::stable_sort of libstdc++ 12 uses a deprecated function and silences that for g++ alone.
  $<$<COMPILE_LANG_AND_ID:CXX,Clang>:-Wno-deprecated-declarations>)

# GCC 12 sees an overlapping copy in `const char* + std::string` that is not there (its bug 105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(elbowroom_warnings INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>
    $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wno-restrict>)
endif()

# fmt's shared library may be absent where the tool must start, and its header-only form costs ten seconds a file: its functions are
# compiled once, in src/base/fmt_functions.cpp, for the version that this file knows.
add_library(elbowroom_fmt INTERFACE)
if(fmt_VERSION VERSION_GREATER_EQUAL 9 AND fmt_VERSION VERSION_LESS 10)
  get_target_property(ELBOWROOM_FMT_INCLUDE fmt::fmt-header-only INTERFACE_INCLUDE_DIRECTORIES)
  target_include_directories(elbowroom_fmt SYSTEM INTERFACE ${ELBOWROOM_FMT_INCLUDE})
else()
  target_link_libraries(elbowroom_fmt INTERFACE fmt::fmt-header-only)
  set_source_files_properties("${PROJECT_SOURCE_DIR}/src/base/fmt_functions.cpp"
    DIRECTORY "${PROJECT_SOURCE_DIR}/src" PROPERTIES HEADER_FILE_ONLY ON)
endif()

# elbowroom_headers(NAME HEADERS <x> ... [EXECUTABLES] [OPTIONS ...] [LIBRARIES ...]): headers that take long to read, compiled once for the
# targets that say REUSE_FROM NAME and are compiled with the same options: for executables, or for all else.
function(elbowroom_headers name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "EXECUTABLES" "" "HEADERS;OPTIONS;LIBRARIES")
  if(arg_EXECUTABLES)
    list(APPEND arg_OPTIONS ${CMAKE_CXX_COMPILE_OPTIONS_PIE})
  endif()
  set(source "${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp")
  file(CONFIGURE OUTPUT "${source}" CONTENT "")
  add_library(${name} OBJECT "${source}")
  target_link_libraries(${name} PRIVATE elbowroom_warnings ${arg_LIBRARIES})
  target_compile_options(${name} PRIVATE ${arg_OPTIONS})
  if(arg_EXECUTABLES)
    set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  endif()
  target_precompile_headers(${name} PRIVATE ${arg_HEADERS})
endfunction()

# elbowroom_read_once(TARGET [OPTION...]): TARGET is compiled with these options, and its large headers come precompiled with the same.
function(elbowroom_read_once target)
  string(REGEX REPLACE "[^A-Za-z0-9_-]" "" headers "elbowroom_large_headers${ARGN}")
  if(NOT TARGET ${headers})
    elbowroom_headers(${headers} HEADERS <fmt/format.h> <nlohmann/json.hpp> OPTIONS ${ARGN} LIBRARIES elbowroom_fmt nlohmann_json::nlohmann_json)
  endif()
  target_compile_options(${target} PRIVATE ${ARGN})
  target_precompile_headers(${target} REUSE_FROM ${headers})
endfunction()

# Layers that run for milliseconds, between which others measure or simulate: half of the time that they took to compile went to optimising
# them. Steps of 4,096 ranks and long traces take a third longer where model, plan and explain have -Og too.
set(cold_layers run base ranks energy counters tune report preload doctor experiment page)
set(cool_layers model plan explain)
function(elbowroom_optimise_layer layer)
  set(options "")
  if(CMAKE_BUILD_TYPE STREQUAL "Release" AND layer IN_LIST cold_layers)
    set(options -Og)
  elseif(CMAKE_BUILD_TYPE STREQUAL "Release" AND layer IN_LIST cool_layers)
    set(options -O1)
  endif()
  if(ELBOWROOM_LINT)
    target_compile_options(elbowroom_${layer} PRIVATE ${options})
  else()
    # Most sources take longer to read these headers than to compile the rest. g++ takes the level of optimisation from what is precompiled.
    elbowroom_read_once(elbowroom_${layer} ${options})
  endif()
endfunction()

# One layer of include/elbowroom/<layer> and src/<layer>: an object library, so that the shared library, the tool and the tests
# take the same objects. Every layer is a room of docs/architecture.md; which may include which is enforced by a test.
function(elbowroom_layer layer)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "DEPENDS")
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${layer}/*.cpp")
  if(NOT sources)
    return()
  endif()
  add_library(elbowroom_${layer} OBJECT ${sources})
  elbowroom_batched_by_plan(elbowroom_${layer})
  target_include_directories(elbowroom_${layer} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>)
  target_include_directories(elbowroom_${layer} PRIVATE "${PROJECT_SOURCE_DIR}/src")
  target_link_libraries(elbowroom_${layer} PRIVATE elbowroom_warnings elbowroom_fmt nlohmann_json::nlohmann_json ${arg_DEPENDS})
  if(ELBOWROOM_SANITIZE)
    elbowroom_sanitize_layer(${layer})
  else()
    elbowroom_optimise_layer(${layer})
  endif()
  set_property(GLOBAL APPEND PROPERTY ELBOWROOM_LAYERS elbowroom_${layer})
endfunction()

# elbowroom_archive(NAME LAYER...): an archive of some layers, for what needs no more of the library: a linker takes from it what is
# called, and a build compiles no other layer.
function(elbowroom_archive name)
  add_library(${name} STATIC)
  foreach(layer IN LISTS ARGN)
    target_sources(${name} PRIVATE $<TARGET_OBJECTS:elbowroom_${layer}>)
  endforeach()
  set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX)
  target_include_directories(${name} PUBLIC "${PROJECT_SOURCE_DIR}/include" "${PROJECT_BINARY_DIR}/include" "${PROJECT_SOURCE_DIR}/src")
  target_link_libraries(${name} PUBLIC elbowroom_fmt nlohmann_json::nlohmann_json ${CMAKE_DL_LIBS})
endfunction()
