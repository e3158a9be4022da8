# Sources compiled as one: a build from nothing reads large headers fewer times. A build after a small change takes longer, so it is off
# but where a tree is built once to be used.
set(ELBOWROOM_BATCHED "" CACHE STRING
  "What is compiled in batches of sources: nothing (empty), all, or by_plan: all, sources that read plan's headers apart")
set_property(CACHE ELBOWROOM_BATCHED PROPERTY STRINGS "" all by_plan)
# An eighth of the time of g++ for a batch went to looking for memory to give back. It ends with the batch.
if(ELBOWROOM_BATCHED)
  add_compile_options($<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=ggc-min-heapsize=524288>)
endif()

# elbowroom_batched(TARGET): one batch of all sources of TARGET, where ELBOWROOM_BATCHED says so.
function(elbowroom_batched target)
  if(ELBOWROOM_BATCHED)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
  endif()
endfunction()

# elbowroom_reads_plan(FILE RESULT): whether FILE includes a public header of plan, itself or through headers of the project. The
# answer is of the time of configuring.
function(elbowroom_reads_plan file result)
  set(answer "elbowroom_reads_plan:${file}")
  get_property(answered GLOBAL PROPERTY "${answer}" SET)
  if(NOT answered)
    # Also what a cycle of includes sees of its own beginning.
    set_property(GLOBAL PROPERTY "${answer}" OFF)
    set(reads OFF)
    cmake_path(GET file PARENT_PATH folder)
    file(STRINGS "${file}" includes REGEX "^ *# *include +\"")
    list(TRANSFORM includes REPLACE "^[^\"]*\"([^\"]*)\".*" "\\1")
    if(includes MATCHES "elbowroom/plan/")
      set(reads ON)
    endif()
    foreach(include IN LISTS includes)
      foreach(path IN ITEMS "${folder}/${include}" "${PROJECT_SOURCE_DIR}/include/${include}" "${PROJECT_SOURCE_DIR}/src/${include}")
        if(NOT reads AND EXISTS "${path}")
          elbowroom_reads_plan("${path}" reads)
        endif()
      endforeach()
    endforeach()
    set_property(GLOBAL PROPERTY "${answer}" ${reads})
  endif()
  get_property(reads GLOBAL PROPERTY "${answer}")
  set(${result} ${reads} PARENT_SCOPE)
endfunction()

# elbowroom_batched_by_plan(TARGET): where ELBOWROOM_BATCHED is by_plan two batches, one of the sources that read the public headers of plan.
# These are the headers that most sources share, and a change of one leaves the other batch as it is. A first build takes a quarter longer.
function(elbowroom_batched_by_plan target)
  if(NOT ELBOWROOM_BATCHED STREQUAL "by_plan")
    elbowroom_batched(${target})
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" OUTPUT_VARIABLE file)
    elbowroom_reads_plan("${file}" reads)
    set(group no_plan)
    if(reads)
      set(group plan)
    endif()
    set_source_files_properties("${source}" PROPERTIES UNITY_GROUP ${group})
  endforeach()
endfunction()
