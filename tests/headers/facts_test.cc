// Spot checks of the fact tables that the library and the tool read.
#include <algorithm>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "belay/abi/traits.h"
#include "belay/facts/codes.h"
#include "belay/facts/enums.h"
#include "belay/facts/functions.h"

namespace belay::facts {
namespace {

using abi::Life;
using abi::Traits;
using testing::ElementsAre;

constexpr uint8_t kAll = 0x3f;

uint8_t Bit(Family family) {
  return static_cast<uint8_t>(1u << static_cast<int>(family));
}

uint8_t Bits(std::initializer_list<Family> families) {
  uint8_t bits = 0;
  for (Family family : families) bits = static_cast<uint8_t>(bits | Bit(family));
  return bits;
}

TEST(Functions, AreSortedAndFoundByName) {
  for (int i = 0; i < kFnCount; ++i) {
    const FnFacts& facts = Facts(static_cast<Fn>(i));
    EXPECT_EQ(FindFn(facts.name), static_cast<Fn>(i));
    if (i > 0) {
      EXPECT_LT(std::string_view(Facts(static_cast<Fn>(i - 1)).name), facts.name);
    }
  }
  EXPECT_EQ(FindFn("aclrtMemcpy"), Fn::aclrtMemcpy);
  EXPECT_EQ(FindFn("aclrtMemcp"), Fn::kCount);
  EXPECT_EQ(FindFn(""), Fn::kCount);
  EXPECT_EQ(FindFn("zzz"), Fn::kCount);
}

TEST(Functions, DescribeTheirPrototype) {
  const FnFacts& facts = Facts(Fn::aclrtMemcpy);
  ASSERT_EQ(facts.param_count, 5);
  EXPECT_STREQ(facts.params[1], "destMax");
  EXPECT_STREQ(facts.returns, "aclError");
  EXPECT_STREQ(facts.section, "31 §1.1");
  EXPECT_EQ(facts.state, State::kImplemented);
}

TEST(Lacks, AQualifierHoldsForItsWholeClause) {  // "TRN, INF, 200I before 9.1"
  const FnFacts& facts = Facts(Fn::aclrtSetDeviceSatMode);
  const uint8_t three = Bits({Family::kTrn, Family::kInf, Family::k200I});
  EXPECT_THAT(facts.lacks, ElementsAre(three, three, three, 0));
  EXPECT_TRUE(Lacks(facts, Cann::k90, Family::kTrn));
  EXPECT_FALSE(Lacks(facts, Cann::k90, Family::kA2));
}

TEST(Lacks, ClausesAddUp) {  // "200I, TRN; 950, INF before 9.0; A3 before 8.2"
  const uint8_t always = Bits({Family::k200I, Family::kTrn});
  const uint8_t before90 = static_cast<uint8_t>(always | Bits({Family::k950, Family::kInf}));
  const uint8_t in81 = static_cast<uint8_t>(before90 | Bit(Family::kA3));
  EXPECT_THAT(Facts(Fn::aclmdlRICaptureBegin).lacks, ElementsAre(in81, before90, always, always));
}

TEST(Lacks, AllBut) {
  const uint8_t others = static_cast<uint8_t>(kAll & ~Bit(Family::k950));
  EXPECT_THAT(Facts(Fn::aclrtCntNotifyCreate).lacks, ElementsAre(kAll, others, others, others));
}

TEST(Lacks, SinceCountsVersionsBetweenProfiles) {
  EXPECT_THAT(Facts(Fn::aclrtLaunchHostFunc).lacks, ElementsAre(kAll, 0, 0, 0));  // since 8.3
  EXPECT_EQ(Facts(Fn::aclrtLaunchHostFunc).since, Cann::k85);
  EXPECT_THAT(Facts(Fn::aclrtMallocWithCfg).lacks, ElementsAre(0, 0, 0, 0));  // since 8.1
  const FnFacts& newer = Facts(Fn::aclrtSetOpExecuteTimeOutWithMs);           // since 9.2
  EXPECT_THAT(newer.lacks, ElementsAre(kAll, kAll, kAll, kAll));
  EXPECT_EQ(newer.since, Cann::kCount);
  EXPECT_EQ(newer.state, State::kRefused);
}

TEST(Lacks, AQuirkMayLiftThem) {
  const FnFacts& facts = Facts(Fn::aclrtMemPoolCreate);
  EXPECT_THAT(facts.lacks, ElementsAre(kAll, kAll, kAll, kAll));
  EXPECT_STREQ(facts.unless, "pools");
  EXPECT_EQ(facts.since, Cann::k91);
  EXPECT_EQ(facts.state, State::kNotYet);
  EXPECT_EQ(Facts(Fn::aclrtMemcpy).unless, nullptr);
}

TEST(Lacks, AVariantOfAFamilyDoesNotCount) {  // "950DT from 9.1"
  EXPECT_THAT(Facts(Fn::aclrtMemGetAccess).lacks, ElementsAre(kAll, 0, 0, 0));
}

TEST(Functions, KnownOnlyByNameAreRefused) {
  const FnFacts& facts = Facts(Fn::aclrtGetSymbolAddress);
  EXPECT_EQ(facts.state, State::kRefused);
  EXPECT_EQ(facts.param_count, 0);
}

TEST(Names, OfFamiliesAndVersions) {
  EXPECT_STREQ(FamilyName(Family::k200I), "200I");
  EXPECT_STREQ(FamilyName(Family::kTrn), "TRN");
  EXPECT_STREQ(CannName(Cann::k81), "8.1");
  EXPECT_STREQ(CannName(Cann::k91), "9.1");
}

TEST(Traits, NonNullCoversPointersButNotHandles) {
  EXPECT_EQ(Traits<Fn::aclrtMemcpyAsync>::kNonNull, 0b101u);  // dst, src; not the stream
  EXPECT_EQ(Traits<Fn::aclrtMallocWithCfg>::kNonNull, 0b1u);  // cfg may be NULL
  EXPECT_EQ(Traits<Fn::aclInit>::kNonNull, 0u);
  EXPECT_EQ(Traits<Fn::aclFinalizeReference>::kNonNull, 0u);
  EXPECT_EQ(Traits<Fn::aclrtGetPrimaryCtxState>::kNonNull, 0b100u);
}

TEST(Traits, EverywhereMeansNoProfileLacksIt) {
  EXPECT_TRUE(Traits<Fn::aclrtMemcpy>::kEverywhere);
  EXPECT_FALSE(Traits<Fn::aclrtMemGetAddressRange>::kEverywhere);
}

TEST(Traits, LifeOfCalls) {
  EXPECT_EQ(Traits<Fn::aclrtFree>::kLife, Life::kFree);
  EXPECT_EQ(Traits<Fn::aclInit>::kLife, Life::kAlways);
  EXPECT_EQ(Traits<Fn::aclDataTypeSize>::kLife, Life::kAlways);
  EXPECT_EQ(Traits<Fn::aclrtMalloc>::kLife, Life::kNormal);
}

TEST(Probe, MarksCallsThatProgramsTry) {
  EXPECT_TRUE(Facts(Fn::aclrtGetDevice).probe);
  EXPECT_TRUE(Facts(Fn::aclrtMemRetainAllocationHandle).probe);
  EXPECT_FALSE(Facts(Fn::aclrtMalloc).probe);
}

TEST(Codes, HaveOneShownNameAndKnowTheirAliases) {
  EXPECT_STREQ(CodeName(0), "ACL_SUCCESS");
  EXPECT_STREQ(CodeName(107000), "ACL_ERROR_RT_PARAM_INVALID");
  EXPECT_STREQ(CodeName(507053), "ACL_ERROR_RT_DEVICE_MEM_ERROR");
  EXPECT_EQ(CodeName(1), nullptr);
  EXPECT_EQ(CodeMeaning(-1), nullptr);
  EXPECT_NE(CodeMeaning(207001), nullptr);
  EXPECT_EQ(FindCode("ACL_ERROR_RT_FEATURE_NOT_SUPPORT"), 207000);
  EXPECT_EQ(FindCode("ACL_ERROR_NONE"), 0);
  EXPECT_EQ(FindCode("ACL_ERROR_RT_DEVICE_MTE_ERROR"), 507053);
  EXPECT_EQ(FindCode("nothing"), -1);
  const auto codes = AllCodes();
  EXPECT_TRUE(std::is_sorted(codes.begin(), codes.end(), [](auto& a, auto& b) { return a.value < b.value; }));
}

TEST(Enums, GiveNames) {
  EXPECT_STREQ(EnumName("aclrtMemcpyKind", 1), "ACL_MEMCPY_HOST_TO_DEVICE");
  EXPECT_STREQ(EnumName("aclDataType", -1), "ACL_DT_UNDEFINED");
  EXPECT_EQ(EnumName("aclrtMemcpyKind", 99), nullptr);
  EXPECT_EQ(EnumName("aclrtNothing", 0), nullptr);
}

}  // namespace
}  // namespace belay::facts
