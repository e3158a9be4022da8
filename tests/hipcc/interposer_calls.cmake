# What src/interposer/hip declares of HIP, in a form that interposer_abi_test.cpp can compare with HIP's headers: a copy of its hooks under other
# names, and a list of those functions that the headers of this ROCm have. Sets nothing but the two files in FOLDER.
function(elbowroom_interposer_calls sources include folder)
  # C++ has templates under these names; interposer_abi_test.cpp names the function that is meant.
  set(overloaded hipLaunchCooperativeKernel hipLaunchCooperativeKernelMultiDevice hipExtLaunchMultiKernelMultiDevice
    hipOccupancyMaxActiveBlocksPerMultiprocessor)
  file(READ "${sources}/hooked_functions.hpp" hooks)
  file(READ "${sources}/runtime_calls.cpp" calls)
  file(READ "${include}/hip/hip_runtime_api.h" header)
  file(READ "${include}/hip/hip_ext.h" more)
  string(APPEND header "${more}")

  set(list "")
  string(REGEX MATCHALL "int hip[A-Za-z0-9_]+\\(" names "${hooks}")
  foreach(name IN LISTS names)
    string(REGEX REPLACE "int (hip[A-Za-z0-9_]+)\\(" "\\1" name "${name}")
    if(header MATCHES "[ *]${name}\\(" AND NOT name IN_LIST overloaded)
      string(APPEND list "SAME_HOOK(ours_${name}, ${name})\n")
    endif()
  endforeach()
  string(REGEX MATCHALL "find_call\\(calls\\.[a-z0-9_]+, \"hip[A-Za-z0-9_]+\"\\)" names "${calls}")
  foreach(name IN LISTS names)
    string(REGEX MATCH "calls\\.([a-z0-9_]+), \"(hip[A-Za-z0-9_]+)\"" name "${name}")
    set(field ${CMAKE_MATCH_1})
    set(function ${CMAKE_MATCH_2})
    if(header MATCHES "[ *]${function}\\(" AND NOT function IN_LIST overloaded)
      string(APPEND list "SAME_CALL(${field}, ${function})\n")
    endif()
  endforeach()
  file(CONFIGURE OUTPUT "${folder}/interposer_calls.inc" CONTENT "@list@" @ONLY)

  string(REGEX REPLACE "int (hip[A-Za-z0-9_]+)\\(" "int ours_\\1(" hooks "${hooks}")
  file(CONFIGURE OUTPUT "${folder}/hooked_functions_renamed.hpp" CONTENT "@hooks@" @ONLY)
endfunction()
