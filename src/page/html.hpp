#pragma once

#include <string>
#include <string_view>

#include "page/model.hpp"

namespace elbowroom::page {

/// A page says in its first line that it is one, so that a later page may take its place.
inline constexpr std::string_view kPageSchema = "elbowroom.page/1";

/// What a page carries beside its figures, so that it needs no network.
struct Assets {
  std::string_view style;
  std::string_view script;
  std::string_view library;  ///< d3
  std::string_view licence;  ///< of the library
};

/// The model as the page's script takes it, in one line. `<` is escaped: no text of a document can end the script element.
std::string page_json(const Page& page);

/// The whole page.
std::string to_html(const Page& page, const Assets& assets);

}  // namespace elbowroom::page
