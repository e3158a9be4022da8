# What the page of `elbowroom report` carries: its script and style, and d3 with its licence. Without d3 the program is built all
# the same, and the command says what is missing.
set(ELBOWROOM_PAGE_WEB "${PROJECT_SOURCE_DIR}/src/page/web")
file(GLOB ELBOWROOM_PAGE_SOURCES CONFIGURE_DEPENDS "${ELBOWROOM_PAGE_WEB}/*.js" "${ELBOWROOM_PAGE_WEB}/*.css")

# The modules that zooming, scales and axes need, each behind those that it needs itself: half of the whole library.
set(ELBOWROOM_D3_MODULES array collection color dispatch ease format interpolate selection timer drag transition zoom time
  time-format scale axis)
find_path(ELBOWROOM_D3_DIR d3-zoom/dist/d3-zoom.min.js PATHS /usr/share/nodejs DOC "Folder of d3's modules (Debian: node-d3)")
find_path(ELBOWROOM_D3_LICENCE_DIR node-d3-zoom/copyright PATHS /usr/share/doc DOC "Folder of the licences of d3's modules")

set(ELBOWROOM_D3_FILES)
set(ELBOWROOM_D3_LICENCES)
set(ELBOWROOM_D3_MISSING "")
foreach(module IN LISTS ELBOWROOM_D3_MODULES)
  set(file "${ELBOWROOM_D3_DIR}/d3-${module}/dist/d3-${module}.min.js")
  set(licence "${ELBOWROOM_D3_LICENCE_DIR}/node-d3-${module}/copyright")
  if(EXISTS "${file}" AND EXISTS "${licence}")
    list(APPEND ELBOWROOM_D3_FILES "${file}")
    list(APPEND ELBOWROOM_D3_LICENCES "${licence}")
  elseif(NOT ELBOWROOM_D3_MISSING)
    set(ELBOWROOM_D3_MISSING "d3-${module}")
  endif()
endforeach()
if(ELBOWROOM_D3_MISSING)
  message(STATUS "elbowroom report: ${ELBOWROOM_D3_MISSING} was not found (Debian, Ubuntu: node-d3); the command will say so")
endif()

# elbowroom_page_assets(TARGET): adds the generated source.
function(elbowroom_page_assets target)
  set(generated "${CMAKE_CURRENT_BINARY_DIR}/page_assets.cpp")
  set(script "${PROJECT_SOURCE_DIR}/cmake/embed_page.cmake")
  add_custom_command(OUTPUT "${generated}"
    COMMAND "${CMAKE_COMMAND}" "-DOUTPUT=${generated}" "-DMISSING=${ELBOWROOM_D3_MISSING}" "-DSOURCES=${ELBOWROOM_PAGE_SOURCES}"
      "-DHEADER=${PROJECT_SOURCE_DIR}/tools/elbowroom/page_assets.hpp" "-DLIBRARY=${ELBOWROOM_D3_FILES}"
      "-DLICENCES=${ELBOWROOM_D3_LICENCES}" -P "${script}"
    DEPENDS "${script}" ${ELBOWROOM_PAGE_SOURCES} ${ELBOWROOM_D3_FILES} ${ELBOWROOM_D3_LICENCES}
    COMMENT "Embedding the page's script and style" VERBATIM)
  target_sources(${target} PRIVATE "${generated}")
  # Clang counts what a compiler need not take.
  set_source_files_properties("${generated}" PROPERTIES COMPILE_OPTIONS "-Wno-overlength-strings" SKIP_PRECOMPILE_HEADERS ON)
endfunction()
