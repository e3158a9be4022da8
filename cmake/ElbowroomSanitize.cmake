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
# Of them, those whose code runs briefly in tests: two thirds of the time that they took to compile went to optimising them. Each process reads
# the catalog of devices, so that `model` is none of these.
set(unoptimised_layers report explain page)

# A sanitizer's tree is compiled to run its tests once: it optimises what then runs for long, the simulator and most of what is fuzzed, and
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
  set(level -O1)
  if(layer IN_LIST unoptimised_layers)
    set(level -O0)
  endif()
  set(options ${level} -fsanitize=fuzzer-no-link)
  set(headers elbowroom_fuzzed_headers${level})
  if(NOT TARGET ${headers})
    elbowroom_headers(${headers} HEADERS <fmt/format.h> <nlohmann/json.hpp> OPTIONS ${options}
      LIBRARIES elbowroom_fmt nlohmann_json::nlohmann_json)
  endif()
  target_compile_options(elbowroom_${layer} PRIVATE ${options})
  target_precompile_headers(elbowroom_${layer} REUSE_FROM ${headers})
endfunction()
