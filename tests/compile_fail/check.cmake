# cmake -DCOMPILER=... -DSOURCE=... -DINCLUDE=... -P check.cmake
# The first line of SOURCE is "// fails: REGEX", matched against the compiler's messages.
set(ENV{LC_ALL} C)  # plain quotes in the messages
# A leading blank keeps message() from breaking lines, which tests of this script match.

file(STRINGS "${SOURCE}" first_line LIMIT_COUNT 1)
if(NOT first_line MATCHES "^// fails: (.+)$")
  message(FATAL_ERROR " ${SOURCE} states no reason; expected a first line '// fails: REGEX'")
endif()
set(reason "${CMAKE_MATCH_1}")

function(compile result_variable messages_variable)
  execute_process(COMMAND "${COMPILER}" -std=c++20 -fsyntax-only -Wall -Wextra -Werror "-I${INCLUDE}" ${ARGN} "${SOURCE}"
    RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE messages)
  set(${result_variable} "${result}" PARENT_SCOPE)
  set(${messages_variable} "${output}${messages}" PARENT_SCOPE)
endfunction()

compile(result messages -DCONTROL)
if(NOT result STREQUAL "0")
  message(FATAL_ERROR " ${SOURCE}: control does not compile:\n${messages}")
endif()
compile(result messages)
if(result STREQUAL "0")
  message(FATAL_ERROR " ${SOURCE} compiles, but must not")
endif()
if(NOT messages MATCHES "${reason}")
  message(FATAL_ERROR " ${SOURCE} fails to compile for another reason than '${reason}':\n${messages}")
endif()
