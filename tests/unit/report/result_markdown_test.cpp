#include "elbowroom/report/result_markdown.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>

#include "example_document.hpp"
#include "golden.hpp"

namespace elbowroom {
namespace {

TEST(ResultMarkdown, IsTheGoldenExample) { expect_golden("table.md", to_markdown(example_document())); }

TEST(ResultMarkdown, SaysWhereItsFiguresComeFrom) {
  ResultDocument document = example_document();
  document.origin.provenance = Provenance::measured;
  const std::string text = to_markdown(document);
  EXPECT_TRUE(text.starts_with("<!-- elbowroom.markdown/1 -->\n\nmeasured on 2 x Example GPU"));
  EXPECT_NE(text.find("### example (measured)"), std::string::npos);
  EXPECT_EQ(text.find("simulated"), std::string::npos);
}

TEST(ResultMarkdown, SaysWhatSimulatedTimesRestOn) {
  ResultDocument document = example_document();
  document.origin.device.model = example_model();
  EXPECT_NE(to_markdown(document).find("\nmodel: nothing was measured on example.\n"), std::string::npos);
}

TEST(ResultMarkdown, TextFromOutsideCannotBreakTheTable) {
  ResultDocument document = example_document();
  document.cases[0].results[0].limited_by = "a|b\nc<script>";
  std::istringstream lines(to_markdown({document.origin, {document.cases[0]}}));
  int rows = 0;
  std::size_t bars = 0;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("|")) { continue; }
    ++rows;
    std::size_t unescaped = 0;
    for (std::size_t i = 0; i < line.size(); ++i) { unescaped += line[i] == '|' && (i == 0 || line[i - 1] != '\\') ? 1U : 0U; }
    if (bars == 0) { bars = unescaped; }
    EXPECT_EQ(unescaped, bars) << line;
    EXPECT_EQ(line.find("<script"), std::string::npos);
  }
  EXPECT_EQ(rows, 6);  // heading, rule and four schemes
}

}  // namespace
}  // namespace elbowroom
