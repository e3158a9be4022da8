# One switch for all sanitizers, so that no target can be built without them by mistake. The presets set it.
set(HEADROOM_SANITIZE "" CACHE STRING "Argument of -fsanitize= for every C++ target; empty: none")
if(HEADROOM_SANITIZE)
  # A finding of UndefinedBehaviorSanitizer only prints by default; a test must fail on it.
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${HEADROOM_SANITIZE}>
    $<$<COMPILE_LANGUAGE:CXX>:-fno-sanitize-recover=all> $<$<COMPILE_LANGUAGE:CXX>:-fno-omit-frame-pointer>)
  add_link_options(-fsanitize=${HEADROOM_SANITIZE})
endif()
