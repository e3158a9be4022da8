# One switch for all sanitizers, so that no target can be built without them by mistake. The presets set it.
set(ELBOWROOM_SANITIZE "" CACHE STRING "Argument of -fsanitize= for every C++ target; empty: none")
if(ELBOWROOM_SANITIZE)
  # A finding of UndefinedBehaviorSanitizer only prints by default; a test must fail on it.
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${ELBOWROOM_SANITIZE}>
    $<$<COMPILE_LANGUAGE:CXX>:-fno-sanitize-recover=all> $<$<COMPILE_LANGUAGE:CXX>:-fno-omit-frame-pointer>)
  add_link_options(-fsanitize=${ELBOWROOM_SANITIZE})
endif()

# What the fuzzers of tests/fuzz link: the parsers and what they stand on.
set(ELBOWROOM_FUZZED_LAYERS run base ranks model trace plan energy tune report explain page)

# A sanitizer's tree is compiled to run its tests once: it optimises what then runs for long, the simulator and what is fuzzed, and
# reads the large headers once. The fuzzers follow their coverage through the same objects as the tests link.
function(elbowroom_sanitize_layer layer)
  if(layer STREQUAL "backend_sim")
    target_compile_options(elbowroom_backend_sim PRIVATE -O1)
    return()
  endif()
  if(NOT ELBOWROOM_FUZZERS OR NOT layer IN_LIST ELBOWROOM_FUZZED_LAYERS)
    elbowroom_read_once(elbowroom_${layer})
    return()
  endif()
  set(options -O1 -fsanitize=fuzzer-no-link)
  if(NOT TARGET elbowroom_fuzzed_headers)
    elbowroom_headers(elbowroom_fuzzed_headers HEADERS <fmt/format.h> <nlohmann/json.hpp> OPTIONS ${options}
      LIBRARIES elbowroom_fmt nlohmann_json::nlohmann_json)
  endif()
  target_compile_options(elbowroom_${layer} PRIVATE ${options})
  target_precompile_headers(elbowroom_${layer} REUSE_FROM elbowroom_fuzzed_headers)
endfunction()
