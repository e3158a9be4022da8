#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "page/html.hpp"
#include "page/readers.hpp"

// read_document never throws or crashes whatever kind of document a text begins as, its errors are one line that begins with the
// source, and what it accepts becomes a model in one line of JSON without a `<`.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  elbowroom::Result<elbowroom::page::Document> document = elbowroom::page::read_document(text, "fuzz");
  if (!document) {
    const std::string& message = document.error().message;
    if (!message.starts_with("fuzz: ") || message.find('\n') != std::string::npos) {
      std::fprintf(stderr, "the error is not one line: '%s'\n", message.c_str());
      std::abort();
    }
    return 0;
  }
  elbowroom::page::Page page;
  page.documents.push_back(*std::move(document));
  const std::string json = elbowroom::page::page_json(page);
  const bool good = nlohmann::json::accept(json) && json.find_first_of("<\n") == std::string::npos;
  if (!good) {
    std::fprintf(stderr, "the model is not one line of JSON: %s\n", json.c_str());
    std::abort();
  }
  return 0;
}
