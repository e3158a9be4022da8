#include "model/document_schema.hpp"

#include <gtest/gtest.h>

namespace elbowroom::detail {
namespace {

TEST(SchemaOf, FindsWhatADocumentSays) {
  EXPECT_EQ(schema_of(R"({"schema": "elbowroom.result/1", "cases": []})"), "elbowroom.result/1");
  EXPECT_EQ(schema_of(R"({"a": {"schema": "inner"}, "b": ["schema", "x"], "schema": "outer"})"), "outer");
  EXPECT_EQ(schema_of("{\"schema\": \"elbowroom.profile/1\", \"choices\": [{"), "elbowroom.profile/1") << "cut off";
  EXPECT_EQ(schema_of("<!-- elbowroom.markdown/1 -->\n\n# Title\n"), "elbowroom.markdown/1");
}

TEST(SchemaOf, FindsNothingElsewhere) {
  for (const char* text : {"", "import torch\n", "{", "[]", "3", "\"schema\"", R"([{"schema": "x"}])", R"({"schema": 3})",
                           R"({"schema": {"schema": "x"}})", "{\"schema\"", "<!-- open", "# <!-- x -->",
                           "\x7f"
                           "ELF"}) {
    EXPECT_EQ(schema_of(text), "") << text;
  }
}

TEST(RefuseOtherDocument, TakesOursAndNothing) {
  EXPECT_TRUE(refuse_other_document("", "elbowroom.run/1", "x"));
  EXPECT_TRUE(refuse_other_document(R"({"schema": "elbowroom.run/1"})", "elbowroom.run/1", "x"));
  EXPECT_EQ(refuse_other_document(R"({"schema": "elbowroom.run/2"})", "elbowroom.run/1", "x").error().message,
            "x: schema: \"elbowroom.run/2\", expected \"elbowroom.run/1\"");
  EXPECT_EQ(refuse_other_document("text", "elbowroom.run/1", "x").error().message,
            "x: not an elbowroom.run/1 document, expected one, an empty file or a new name");
}

}  // namespace
}  // namespace elbowroom::detail
