#include "elbowroom/experiment/answers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "elbowroom/report/result_document.hpp"
#include "unit/experiment/cases.hpp"

namespace elbowroom {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

ResultDocument of_reduction(double reduction) {
  ResultDocument document;
  CaseResult result;
  result.what = testing::small_case();
  SchemeResult scheme;
  scheme.scheme = "priority";
  scheme.time.median = Microseconds(100);
  scheme.metrics.reduction = reduction;
  result.results = {scheme};
  document.cases = {result};
  return document;
}

TEST(Answers, NameCasesThatSaveTooLittle) {
  EXPECT_THAT(cases_below(of_reduction(0.2), 20), IsEmpty());
  EXPECT_THAT(cases_below(of_reduction(0.199), 20), ElementsAre("relu-ar: the best reduction is 19.9 %, expected at least 20 %"));
}

TEST(Answers, NameRefusalsOfWhatWasAskedFor) {
  ResultDocument document = of_reduction(0.2);
  document.cases.front().refusals = {{"shaped", "a library's kernel", false}, {"plan 1", "cluster: 4, expected one of 1, 2", true}};
  EXPECT_THAT(refused_requests(document), ElementsAre("relu-ar: plan 1 was refused: cluster: 4, expected one of 1, 2"));
}

}  // namespace
}  // namespace elbowroom
