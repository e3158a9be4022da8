# Warnings that every own target is built with; INTERFACE so that they never reach a consumer.
add_library(headroom_warnings INTERFACE)
target_compile_options(headroom_warnings INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Wold-style-cast
    -Woverloaded-virtual -Wundef -Werror>
  # std::stable_sort of libstdc++ 12 uses a deprecated function and silences that for g++ alone.
  $<$<COMPILE_LANG_AND_ID:CXX,Clang>:-Wno-deprecated-declarations>)

# GCC 12 sees an overlapping copy in `const char* + std::string` that is not there (its bug 105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(headroom_warnings INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>)
endif()

# fmt header-only: the tool must start on machines that lack libfmt. The sanitizers' builds stay at home and take the library,
# which makes them compile three times as fast.
add_library(headroom_fmt INTERFACE)
if(HEADROOM_SANITIZE OR HEADROOM_FUZZERS)
  target_link_libraries(headroom_fmt INTERFACE fmt::fmt)
else()
  target_link_libraries(headroom_fmt INTERFACE fmt::fmt-header-only)
endif()

# One layer of include/headroom/<layer> and src/<layer>: an object library, so that the shared library, the tool and the tests
# take the same objects. Every layer is a room of docs/architecture.md; which may include which is enforced by a test.
function(headroom_layer layer)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "DEPENDS")
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${layer}/*.cpp")
  if(NOT sources)
    return()
  endif()
  add_library(headroom_${layer} OBJECT ${sources})
  target_include_directories(headroom_${layer} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>)
  target_include_directories(headroom_${layer} PRIVATE "${PROJECT_SOURCE_DIR}/src")
  target_link_libraries(headroom_${layer} PRIVATE headroom_warnings headroom_fmt nlohmann_json::nlohmann_json ${arg_DEPENDS})
  set_property(GLOBAL APPEND PROPERTY HEADROOM_LAYERS headroom_${layer})
endfunction()
