#include "machine/quirks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace belay::machine {
namespace {

using testing::HasSubstr;

TEST(QuirksTest, EveryBuiltKeyReachesItsField) {
  Quirks quirks;
  auto set = [&](const char* name, const char* value) {
    auto result = SetQuirk(quirks, name, value);
    EXPECT_TRUE(result) << result.error();
  };
  set("event.cross_device", "allow");
  set("peer.require_both", "true");
  set("peer.lenient", "on");
  set("stream_exhaust_code", "207005");
  set("reset_counting", "old");
  set("host_pin_limit", "200GiB");
  set("strict_init", "on");
  set("phyid_by_logic", "logic");
  set("init.bad_path_code", "107000");
  set("ptrattr.strict", "on");
  EXPECT_TRUE(quirks.event_cross_device);
  EXPECT_TRUE(quirks.peer_require_both);
  EXPECT_TRUE(quirks.peer_lenient);
  EXPECT_EQ(quirks.stream_exhaust_code, 207005);
  EXPECT_TRUE(quirks.reset_counting_old);
  EXPECT_EQ(quirks.host_pin_limit, 200ull << 30);
  EXPECT_TRUE(quirks.strict_init);
  EXPECT_TRUE(quirks.phyid_by_logic);
  EXPECT_EQ(quirks.init_bad_path_code, 107000);
  EXPECT_TRUE(quirks.ptrattr_strict);
  for (const QuirkInfo& info : QuirkTable())
    set(std::string(info.name).c_str(), std::string(info.standard).c_str());
  EXPECT_FALSE(quirks.event_cross_device || quirks.peer_require_both || quirks.peer_lenient ||
               quirks.reset_counting_old || quirks.strict_init || quirks.ptrattr_strict);
  EXPECT_FALSE(quirks.phyid_by_logic);
  EXPECT_EQ(quirks.init_bad_path_code, 100003);
  EXPECT_EQ(quirks.stream_exhaust_code, 207008);
  EXPECT_EQ(quirks.host_pin_limit, 0u);
}

TEST(QuirksTest, ABadValueNamesTheAllowedOnesAndChangesNothing) {
  Quirks quirks;
  auto result = SetQuirk(quirks, "event.cross_device", "yes");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error(), "quirk 'event.cross_device': 'yes' must be one of off, allow");
  EXPECT_FALSE(SetQuirk(quirks, "stream_exhaust_code", "207001"));
  EXPECT_FALSE(SetQuirk(quirks, "host_pin_limit", "200GB"));
  EXPECT_FALSE(SetQuirk(quirks, "reset_counting", "older"));
  EXPECT_FALSE(quirks.event_cross_device);
  EXPECT_EQ(quirks.stream_exhaust_code, 207008);
}

TEST(QuirksTest, AnUnknownKeyListsTheNearest) {
  Quirks quirks;
  EXPECT_THAT(SetQuirk(quirks, "peer_lenient", "true").error(),
              HasSubstr("quirk 'peer_lenient' does not exist; the nearest are peer.lenient"));
}

TEST(QuirksTest, WhatIsNotBuiltIsRefusedByName) {
  Quirks quirks;
  EXPECT_EQ(SetQuirk(quirks, "kernels", "skip").error(),
            "quirk 'kernels' is not built yet; only its default 'fail' works");
  EXPECT_TRUE(SetQuirk(quirks, "kernels", "fail"));
  EXPECT_TRUE(SetQuirk(quirks, "managed", "false"));
  EXPECT_FALSE(SetQuirk(quirks, "managed", "true"));
  EXPECT_FALSE(SetQuirk(quirks, "managed", "maybe"));
}

TEST(QuirksTest, NamesAreUniqueAndExplained) {
  std::set<std::string_view> names;
  for (const QuirkInfo& info : QuirkTable()) {
    EXPECT_TRUE(names.insert(info.name).second) << info.name;
    EXPECT_TRUE(info.help.ends_with('.')) << info.name;
    EXPECT_THAT(std::string(info.values), HasSubstr(std::string(info.standard))) << info.name;
  }
}

}  // namespace
}  // namespace belay::machine
