#include "page/html.hpp"

#include <fmt/format.h>

namespace elbowroom::page {
namespace {

// Nothing is fetched from anywhere: the browser itself refuses what this does not name.
constexpr std::string_view kPolicy =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data: blob:";

}  // namespace

std::string to_html(const Page& page, const Assets& assets) {
  return fmt::format(
      "<!-- {} -->\n"
      "<!doctype html>\n"
      "<html lang=\"en\">\n"
      "<head>\n"
      "<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n"
      "<title>Elbowroom report</title>\n"
      "<style>\n{}</style>\n"
      "</head>\n"
      "<body>\n"
      "<noscript>The figures of this page are drawn by its script, which this browser does not run.</noscript>\n"
      "<script type=\"application/json\" id=\"model\">{}</script>\n"
      "<script type=\"text/plain\" id=\"licence\">\n{}</script>\n"
      "<script>\n{}</script>\n"
      "<script>\n{}</script>\n"
      "</body>\n"
      "</html>\n",
      kPageSchema, kPolicy, assets.style, page_json(page), assets.licence, assets.library, assets.script);
}

}  // namespace elbowroom::page
