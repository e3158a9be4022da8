#include "page/html.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "documents.hpp"
#include "model/document_schema.hpp"
#include "unit/report/golden.hpp"

namespace elbowroom::page {
namespace {

using testing::HasSubstr;
using testing::Not;

Page example() { return {"0.0", {"elbowroom", "report", "trace.json", "result.json"}, {read(trace_text()), read(result_text())}}; }

TEST(PageJson, IsTheGoldenExample) {
  expect_golden("page.json", nlohmann::ordered_json::parse(page_json(example())).dump(1) + "\n");
}

TEST(PageJson, EndsNoElement) {
  Page page = example();
  page.documents[0].file = "</script><b>";
  const std::string text = page_json(page);
  EXPECT_THAT(text, Not(HasSubstr("<")));
  EXPECT_EQ(nlohmann::json::parse(text)["documents"][0]["file"], "</script><b>");
}

TEST(PageJson, TakesNamesThatAreNoText) {
  Page page = example();
  page.documents[0].file = "\xff";
  EXPECT_EQ(nlohmann::json::parse(page_json(page))["documents"][0]["file"], "\xEF\xBF\xBD");
}

TEST(PageJson, CutsNamesThatNobodyReads) {
  Page page = example();
  page.documents[0].file = std::string(2047, 'a') + "\u00e9" + std::string(3'000'000, 'b');  // the cut would be within a character
  EXPECT_EQ(nlohmann::json::parse(page_json(page))["documents"][0]["file"], std::string(2047, 'a') + "...");
  page.documents[0].file = std::string(2048, 'a');
  EXPECT_EQ(nlohmann::json::parse(page_json(page))["documents"][0]["file"], page.documents[0].file);
}

TEST(Html, SaysInItsFirstLineThatItIsAPage) {
  EXPECT_EQ(detail::schema_of(to_html(example(), {"s{}", "f();", "lib", "licence words"})), kPageSchema);
}

TEST(Html, CarriesWhatItNeedsAndAsksForNothingElse) {
  const std::string html = to_html(example(), {"s{}", "f();", "lib", "licence words"});
  for (const char* part : {"<style>\ns{}", "<script>\nf();", "<script>\nlib", "licence words", "default-src 'none'"}) {
    EXPECT_THAT(html, HasSubstr(part));
  }
  EXPECT_THAT(html, Not(HasSubstr("http:")));
  EXPECT_THAT(html, Not(HasSubstr("https:")));
}

}  // namespace
}  // namespace elbowroom::page
