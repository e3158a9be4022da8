# Libraries that are loaded into programs of others.

# glibc before 2.34 had these functions in libraries of their own. Linked to today's, they would be asked of libc.so.6 alone, and the old
# loader ends a program in which that comes first. These libraries stand in for the old ones at the link, and are not installed.
# elbowroom_stands_in(TARGET SONAME VERSION=FUNCTION...)
function(elbowroom_stands_in target soname)
  set(source "")
  set(versions "")
  foreach(one IN LISTS ARGN)
    string(REGEX MATCH "^(.*)=(.*)$" matched "${one}")
    # No default version: what the library itself calls by that name is a hidden function of its own.
    string(APPEND source "asm(\".symver old_${CMAKE_MATCH_2}, ${CMAKE_MATCH_2}@${CMAKE_MATCH_1}\");\n")
    string(APPEND source "extern \"C\" __attribute__((visibility(\"default\"))) void old_${CMAKE_MATCH_2}() {}\n")
    list(APPEND versions ${CMAKE_MATCH_1})
  endforeach()
  file(CONFIGURE OUTPUT "${target}.cpp" CONTENT "${source}" @ONLY)
  list(REMOVE_DUPLICATES versions)
  set(map "")
  foreach(version IN LISTS versions)
    string(APPEND map "${version} { local: old_*; };\n")
  endforeach()
  file(CONFIGURE OUTPUT "${target}.map" CONTENT "${map}" @ONLY)
  add_library(${target} SHARED "${CMAKE_CURRENT_BINARY_DIR}/${target}.cpp")
  set_target_properties(${target} PROPERTIES LIBRARY_OUTPUT_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/stands_in" NO_SONAME ON)
  target_link_options(${target} PRIVATE -nostdlib "-Wl,-soname,${soname}" "-Wl,--version-script=${CMAKE_CURRENT_BINARY_DIR}/${target}.map")
endfunction()
if(NOT ELBOWROOM_SANITIZE)
  set(first GLIBC_2.17)
  set(later GLIBC_2.17)
  if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
    set(first GLIBC_2.2.5)
    set(later GLIBC_2.3.3)
  endif()
  set(threads __pthread_key_create pthread_create pthread_detach pthread_key_create pthread_mutex_trylock pthread_once pthread_setspecific
    pthread_sigmask)
  set(loader dladdr dlclose dlerror dlopen dlsym dlvsym)
  list(TRANSFORM threads PREPEND "${first}=")
  list(TRANSFORM loader PREPEND "${first}=")
  elbowroom_stands_in(elbowroom_old_threads libpthread.so.0 ${threads})
  elbowroom_stands_in(elbowroom_old_loader libdl.so.2 ${loader} ${later}=dladdr1 ${later}=dlinfo)
endif()

# A library that is loaded into programs of others: nothing but what EXPORTS names leaves it, and it loads with glibc 2.28.
function(elbowroom_loaded_into_programs target exports)
  set_target_properties(${target} PROPERTIES LINK_DEPENDS "${exports}")
  target_link_options(${target} PRIVATE
    -static-libstdc++ -static-libgcc -Wl,-Bsymbolic-functions -Wl,-z,now -Wl,--gc-sections -Wl,--exclude-libs,ALL
    "-Wl,--version-script=${exports}")
  target_link_libraries(${target} PRIVATE ${CMAKE_DL_LIBS})
  # A sanitizer's symbols come from the program, and its own forms of the C library's functions with them.
  if(NOT ELBOWROOM_SANITIZE)
    target_sources(${target} PRIVATE "${PROJECT_SOURCE_DIR}/src/interposer/process/c_library.cpp")
    set(old "$<TARGET_FILE:elbowroom_old_threads>" "$<TARGET_FILE:elbowroom_old_loader>")
    target_link_options(${target} PRIVATE -Wl,--no-undefined -Wl,--no-as-needed ${old} -Wl,--as-needed)
    set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${old})
    add_dependencies(${target} elbowroom_old_threads elbowroom_old_loader)
  endif()
endfunction()
