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

# A sanitizer's tree is compiled to run its tests once: two thirds of the time that a layer took went to optimising it, so that only those are
# optimised which run for long, the simulator and what each process reads the catalog of devices with. Large headers are read once. The fuzzers
# follow their coverage through the same objects as the tests link.
function(elbowroom_sanitize_layer layer)
  if(layer STREQUAL "backend_sim")
    target_compile_options(elbowroom_backend_sim PRIVATE -O1)
  elseif(NOT ELBOWROOM_FUZZERS OR NOT layer IN_LIST ELBOWROOM_FUZZED_LAYERS)
    elbowroom_read_once(elbowroom_${layer})
  elseif(layer STREQUAL "model")
    elbowroom_read_once(elbowroom_model -O1 -fsanitize=fuzzer-no-link)
  else()
    elbowroom_read_once(elbowroom_${layer} -O0 -fsanitize=fuzzer-no-link)
  endif()
endfunction()
