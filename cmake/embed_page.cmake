# cmake -DOUTPUT=... -DHEADER=... -DMISSING=... -DSOURCES=... -DLIBRARY=... -DLICENCES=... -P embed_page.cmake: writes the source of embedded_assets().
function(text_of result)
  set(all "")
  foreach(file IN LISTS ARGN)
    file(READ "${file}" text)
    string(APPEND all "${text}\n")
  endforeach()
  # The one text that would end a script element before its end.
  if(all MATCHES "</[sS][cC][rR][iI][pP][tT]")
    message(FATAL_ERROR "${ARGN}: holds </script")
  endif()
  set(${result} "${all}" PARENT_SCOPE)
endfunction()

set(styles ${SOURCES})
list(FILTER styles INCLUDE REGEX "\\.css$")
set(scripts ${SOURCES})
list(FILTER scripts INCLUDE REGEX "\\.js$")
list(SORT scripts)
text_of(style ${styles})
text_of(script ${scripts})

set(body "  return unavailable(\"report needs d3, and ${MISSING} was not there when this program was built: install node-d3 (Debian, Ubuntu) and build again\")")
set(texts "")
if(NOT MISSING)
  text_of(library ${LIBRARY})
  text_of(licence ${LICENCES})
  set(body "  return Assets{kStyle, kScript, kLibrary, kLicence}")
  set(texts "constexpr std::string_view kStyle = R\"elbowroom(${style})elbowroom\";
constexpr std::string_view kScript = R\"elbowroom(${script})elbowroom\";
constexpr std::string_view kLibrary = R\"elbowroom(${library})elbowroom\";
constexpr std::string_view kLicence = R\"elbowroom(${licence})elbowroom\";
")
endif()
file(WRITE "${OUTPUT}" "#include \"${HEADER}\"

namespace elbowroom::page {
namespace {

${texts}
}  // namespace

Result<Assets> embedded_assets() {
${body};
}

}  // namespace elbowroom::page
")
