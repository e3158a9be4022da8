#include "backend_ranks/message.hpp"

#include <gtest/gtest.h>

#include "ranks/wire.hpp"

namespace elbowroom::ranks {
namespace {

TEST(Message, ARequestComesBack) {
  const std::string bytes = bytes_of(Request{Task::record, 7, "a program"});
  const Result<Request> read = request_in(bytes);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->task, Task::record);
  EXPECT_EQ(read->number, 7);
  EXPECT_EQ(read->text, "a program");
  for (std::size_t size = 0; size < bytes.size(); ++size) { EXPECT_FALSE(request_in(bytes.substr(0, size))) << size; }
}

TEST(Message, ATaskThatIsNoneIsRefused) {
  WireWriter bytes;
  bytes.number(7);  // verify, the last, is 6
  bytes.number(0);
  bytes.text("");
  EXPECT_EQ(request_in(bytes.take()).error().message, "a message that asks nothing");
}

TEST(Message, AnAnswerComesBack) {
  EXPECT_EQ(*answer_in(answer_bytes(std::string("text"))), "text");
  EXPECT_EQ(*answer_in(answer_bytes(std::string())), "");
  for (const Error& error : {invalid_input("a"), unavailable("b"), failed("c")}) {
    const Result<std::string> read = answer_in(answer_bytes(error));
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().kind, error.kind);
    EXPECT_EQ(read.error().message, error.message);
  }
  EXPECT_EQ(answer_in("").error().message, "a message that is no answer");
}

}  // namespace
}  // namespace elbowroom::ranks
