#include "runtime/init_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace belay::runtime {
namespace {
using testing::ElementsAre;
using testing::HasSubstr;

ConfigProblem ProblemOf(std::string_view text) {
  auto config = ParseInitConfig(text);
  return config ? ConfigProblem{0, ""} : config.error();
}

std::string Nested(char open, char close, int depth) {
  std::string text = open == '{' ? "" : R"({"x":)";
  for (int i = 0; i < depth; ++i) text += open == '{' && i + 1 < depth ? R"({"x":)" : std::string(1, open);
  text.append(static_cast<size_t>(depth), close);
  return open == '{' ? text : text + "}";
}

TEST(InitConfigTest, SyntaxErrorsNameLineAndColumn) {
  EXPECT_THAT(ProblemOf("{\n  \"a\": 1,\n  }").why, HasSubstr("line 3, column 3"));
  EXPECT_EQ(ProblemOf("").code, 100006);
  EXPECT_EQ(ProblemOf("[]").code, 100006);
  EXPECT_EQ(ProblemOf("{}{}").code, 100006);
  EXPECT_EQ(ProblemOf("{\"a\":\"\xff\"}").code, 100006);
}

TEST(InitConfigTest, TenLevelsAreTheMost) {
  for (auto [open, close] : {std::pair('{', '}'), {'[', ']'}}) {
    EXPECT_EQ(ProblemOf(Nested(open, close, 10)).code, 0) << open;
    EXPECT_EQ(ProblemOf(Nested(open, close, 11)).code, 100006) << open;
  }
  EXPECT_EQ(ProblemOf(std::string(1000000, '[')).code, 100006);
}

TEST(InitConfigTest, KeysReachTheirFields) {
  auto config = ParseInitConfig(R"({"err_msg_mode":"1","defaultDevice":{"default_device":"3"},"z":1,"b":2,
    "dump":{"dump_path":"/tmp","dump_list":[{"model_name":"m"}]},"max_opqueue_num":"100","profiler":{}})");
  ASSERT_TRUE(config) << config.error().why;
  EXPECT_TRUE(config->process_messages);
  EXPECT_EQ(config->default_device, 3);
  EXPECT_TRUE(config->dumps);
  EXPECT_THAT(config->ignored, ElementsAre("b", "z"));
  EXPECT_EQ(ParseInitConfig("{ \"a\" : 1 }")->canonical, ParseInitConfig("{\"a\":1}")->canonical);
  EXPECT_FALSE(ParseInitConfig(R"({"dump":{"dump_scene":"lite_exception:disable"}})")->dumps);
}

TEST(InitConfigTest, TheFirstProblemOfTheTableWins) {
  const std::pair<const char*, int32_t> rows[] = {
      {R"({"defaultDevice":{}})", 100007},
      {R"({"dump":{"dump_debug":"on"}})", 100007},
      {R"({"dump":{"dump_list":[{}]},"err_msg_mode":"5"})", 100007},
      {R"({"defaultDevice":"1"})", 100008},
      {R"({"defaultDevice":{"default_device":"-1"}})", 100008},
      {R"({"defaultDevice":{"default_device":"99999999999"}})", 100008},
      {R"({"err_msg_mode":1})", 100008},
      {R"({"err_msg_mode":"5","dump":1})", 100008},
      {R"({"dump":1})", 100009},
      {R"({"dump":{"dump_path":"/t","dump_debug":"on","dump_list":[1]}})", 100009},
      {R"({"dump":{"dump_path":1}})", 100009},
      {R"({"profiler":"x"})", 100010},
      {R"({"max_opqueue_num":"-3"})", 148048},
  };
  for (const auto& [text, code] : rows) EXPECT_EQ(ProblemOf(text).code, code) << text;
}

}  // namespace
}  // namespace belay::runtime
