# cmake -DOUTPUT=... -DSOURCES=... -P embed_devices.cmake: writes the source of device_files().
set(texts "")
foreach(source IN LISTS SOURCES)
  file(READ "${source}" text)
  string(APPEND texts "    R\"elbowroom(${text})elbowroom\",\n")
endforeach()
file(WRITE "${OUTPUT}" "#include \"model/device_files.hpp\"

#include <array>

namespace elbowroom::detail {
namespace {

constexpr auto kFiles = std::to_array<std::string_view>({
${texts}});

}  // namespace

std::span<const std::string_view> device_files() { return kFiles; }

}  // namespace elbowroom::detail
")
