#include "os/symbolizer.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <thread>

namespace belay::os {

// With external linkage: debug information then carries the qualified name.
namespace symbolizer_test {

__attribute__((noinline)) uint64_t ReturnAddress() {
  return reinterpret_cast<uint64_t>(__builtin_return_address(0));
}

struct Where {
  uint64_t address;
  uint32_t line;
};

__attribute__((noinline)) Where HereInAFunction() {
  Where where{};
  where.line = __LINE__ + 1;
  where.address = ReturnAddress();
  asm volatile("" : "+m"(where));
  return where;
}

template <class T>
__attribute__((noinline)) Where HereInATemplate(T) {
  Where where{};
  where.line = __LINE__ + 1;
  where.address = ReturnAddress();
  asm volatile("" : "+m"(where));
  return where;
}

__attribute__((always_inline)) inline Where HereInlined() {
  Where where{};
  where.line = __LINE__ + 1;
  where.address = ReturnAddress();
  asm volatile("" : "+m"(where));
  return where;
}

}  // namespace symbolizer_test

namespace {

using namespace symbolizer_test;  // NOLINT

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StrEq;

std::string ThisProgram() {
  char path[512];
  ssize_t length = readlink("/proc/self/exe", path, sizeof path);
  return std::string(path, static_cast<size_t>(length));
}

TEST(Symbolizer, FindsFunctionFileAndLine) {
  Where where = HereInAFunction();
  Symbol symbol = Symbolize(where.address);
  EXPECT_EQ(symbol.module.view(), ThisProgram());
  EXPECT_NE(symbol.offset, 0u);
  if (!HasDebugInfoReader()) GTEST_SKIP() << "built without libbacktrace";
  EXPECT_THAT(symbol.function.c_str(), StrEq("belay::os::symbolizer_test::HereInAFunction"));
  EXPECT_THAT(symbol.file.c_str(), EndsWith("symbolizer_test.cc"));
  EXPECT_EQ(symbol.line, where.line);
}

TEST(Symbolizer, DemanglesTemplatesOutsideHandlersOnly) {
  if (!HasDebugInfoReader()) GTEST_SKIP() << "built without libbacktrace";
  Where where = HereInATemplate(1.5);
  EXPECT_THAT(Symbolize(where.address).function.c_str(), HasSubstr("HereInATemplate<double>"));
  EXPECT_THAT(Symbolize(where.address, SymbolContext::kSignal).function.c_str(),
              HasSubstr("HereInATemplateIdE"));
}

TEST(Symbolizer, TakesTheInnermostInlinedFrame) {
  if (!HasDebugInfoReader()) GTEST_SKIP() << "built without libbacktrace";
  Where where = HereInlined();
  Symbol symbol = Symbolize(where.address);
  EXPECT_THAT(symbol.function.c_str(), HasSubstr("HereInlined"));
  EXPECT_EQ(symbol.line, where.line);
}

TEST(Symbolizer, KnowsNothingOutsideModules) {
  Symbol symbol = Symbolize(0x1234);
  EXPECT_TRUE(symbol.module.empty());
  EXPECT_TRUE(symbol.function.empty());
  EXPECT_EQ(symbol.offset, 0u);
  EXPECT_TRUE(Symbolize(0).module.empty());
}

TEST(Symbolizer, FindsModulesThatWereLoadedLater) {
  Symbolize(HereInAFunction().address);
  char directory[] = "/tmp/belay_symbolizer_XXXXXX";
  ASSERT_NE(mkdtemp(directory), nullptr);
  const std::string base = directory;
  std::ofstream(base + "/late.c") << "void *LateAddress(void) { return __builtin_return_address(0); }\n"
                                     "void *volatile late_sink;\n"
                                     "void *LateCaller(void) {\n"
                                     "  late_sink = LateAddress();\n"
                                     "  return late_sink;\n"
                                     "}\n";
  const std::string command = "${CC:-cc} -g -O0 -fPIC -shared -o " + base + "/late.so " + base + "/late.c";
  const bool compiled = system(command.c_str()) == 0;
  void* handle = compiled ? dlopen((base + "/late.so").c_str(), RTLD_NOW) : nullptr;
  if (handle != nullptr) {
    auto caller = reinterpret_cast<void* (*)()>(dlsym(handle, "LateCaller"));
    Symbol symbol = Symbolize(reinterpret_cast<uint64_t>(caller()));
    EXPECT_THAT(symbol.module.c_str(), EndsWith("/late.so"));
    if (HasDebugInfoReader()) {
      EXPECT_THAT(symbol.function.c_str(), StrEq("LateCaller"));
      EXPECT_EQ(symbol.line, 4u);
    }
  }
  ASSERT_EQ(system(("rm -rf " + base).c_str()), 0);
  if (handle == nullptr) GTEST_SKIP() << "no C compiler at hand";
}

TEST(Symbolizer, ThreadsTakeTurns) {
  Where where = HereInAFunction();
  std::thread threads[4];
  Symbol symbols[4];
  for (int i = 0; i < 4; ++i) {
    threads[i] = std::thread([&, i] {
      for (int k = 0; k < 20; ++k) symbols[i] = Symbolize(where.address);
    });
  }
  for (auto& thread : threads) thread.join();
  for (const Symbol& symbol : symbols) EXPECT_EQ(symbol.line, HasDebugInfoReader() ? where.line : 0u);
}

Symbol g_seen;
uint64_t g_asked;

TEST(Symbolizer, WorksInASignalHandler) {
  g_asked = HereInAFunction().address;
  struct sigaction action {};
  struct sigaction before {};
  action.sa_handler = [](int) { g_seen = Symbolize(g_asked, SymbolContext::kSignal); };
  ASSERT_EQ(sigaction(SIGUSR1, &action, &before), 0);
  raise(SIGUSR1);
  sigaction(SIGUSR1, &before, nullptr);
  EXPECT_EQ(g_seen.module.view(), ThisProgram());
  if (HasDebugInfoReader()) {
    EXPECT_THAT(g_seen.function.c_str(), EndsWith("::HereInAFunction"));
  }
}

}  // namespace
}  // namespace belay::os
