#include "check/reporter.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "check/report_writer.h"

namespace belay::check {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Return addresses of these tests are small numbers, with names made from them.
os::Symbol FakeSymbol(uint64_t address, os::SymbolContext) {
  os::Symbol symbol;
  symbol.module.Append("/opt/app/train");
  symbol.offset = address;
  if (address >= 0x1000) return symbol;  // no debug information there
  symbol.function.Format("train::step%d", static_cast<int>(address));
  symbol.file.Append("/src/app/train.cc");
  symbol.line = static_cast<uint32_t>(address) + 40;
  return symbol;
}

Finding Example(uint64_t site = 1) {
  Finding finding(FindingId::kPeerNotEnabled);
  finding.message.Append(
      "device 1 reads 4096 bytes at 0x7e8000000000 of device 0, and device 1 has not enabled access to "
      "device 0, "
      "so nothing was copied");
  finding.where = {
      .role = "call", .api = "aclrtMemcpyAsync", .thread = 4711, .device = 1, .stream = 3, .site = {site}};
  finding.AddRelated(
      {.role = "allocated", .api = "aclrtMalloc", .thread = 4711, .device = 0, .site = {0x1234}});
  finding.rule.Append("The device that does a copy needs access to the other one. (SPEC 32 §3)");
  finding.fix.Append("call aclrtDeviceEnablePeerAccess(0, 0) while device 1 is current");
  return finding;
}

class ReporterTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(pipe2(pipe_, O_CLOEXEC | O_NONBLOCK), 0);
    config_.output = pipe_[1];
    config_.symbolize = FakeSymbol;
    config_.product = "atlas-800t-a2";
    config_.cann = "9.0";
    config_.devices = 8;
    config_.command = {"./train", "--name", "a \"b\""};
  }
  void TearDown() override {
    close(pipe_[0]);
    close(pipe_[1]);
  }

  Reporter& Make() {
    auto reporter = Reporter::Create(config_);
    if (!reporter) ADD_FAILURE() << reporter.error();
    reporter_ = std::move(*reporter);
    return *reporter_;
  }

  std::string Printed() {
    char block[65536];
    ssize_t length = read(pipe_[0], block, sizeof block);
    return length > 0 ? std::string(block, static_cast<size_t>(length)) : "";
  }

  std::string Json(std::optional<int> exit_status = 0) {
    return ReportJson(reporter_->page(), {.command = config_.command, .exit_status = exit_status});
  }

  std::string TemporaryFile(const char* ending) {
    std::string path = ::testing::TempDir() + "/belay_reporter_" + std::to_string(getpid()) + ending;
    files_.push_back(path);
    return path;
  }
  ~ReporterTest() override {
    for (const std::string& file : files_) unlink(file.c_str());
  }

  ReporterConfig config_;
  std::unique_ptr<Reporter> reporter_;
  int pipe_[2];
  std::vector<std::string> files_;
};

TEST_F(ReporterTest, TextOfOneBlock) {
  Make().Report(Example());
  EXPECT_EQ(Printed(),
            R"(belay: error: peer-not-enabled: a cross-device access in a direction that was not enabled
  what:       device 1 reads 4096 bytes at 0x7e8000000000 of device 0, and device 1 has not enabled
              access to device 0, so nothing was copied
  call:       aclrtMemcpyAsync at train::step1 /src/app/train.cc:41
              thread 4711, device 1, stream 3
  allocated:  aclrtMalloc at /opt/app/train+0x1234
              thread 4711, device 0, stream -
  rule:       The device that does a copy needs access to the other one. (SPEC 32 §3)
  fix:        call aclrtDeviceEnablePeerAccess(0, 0) while device 1 is current
  silence:    BELAY="suppress=FILE" with the line 'peer-not-enabled:train::step1' in FILE, or
              BELAY="check=-peer-not-enabled"
)");
}

TEST_F(ReporterTest, UnderBelayRunTheHintNamesItsOptions) {
  auto page = RunPage::Create();
  ASSERT_TRUE(page.has_value());
  const std::string path = "/proc/self/fd/" + std::to_string(page->fd());
  config_.run_path = path.c_str();
  Make().Report(Example());
  EXPECT_THAT(Printed(), HasSubstr("--suppress FILE with the line 'peer-not-enabled:train::step1' in it, or\n"
                                   "              --check=-peer-not-enabled\n"));
  EXPECT_EQ(page->count(Severity::kError), 1u);
  EXPECT_EQ(page->processes(), 1u);
}

TEST_F(ReporterTest, UnknownThingsAreSaidToBeUnknown) {
  Finding finding(FindingId::kAfterFinalize);
  finding.message.Append("called");
  Make().Report(finding);
  EXPECT_EQ(Printed(), R"(belay: error: after-finalize: a call after the runtime was finalised
  what:       called
  call:       an unknown place
              thread -, device -, stream -
  silence:    BELAY="suppress=FILE" with the line 'after-finalize' in FILE, or
              BELAY="check=-after-finalize"
)");
  EXPECT_THAT(Json(std::nullopt),
              HasSubstr(R"({"id":"after-finalize","severity":"error","message":"called","count":1,)"
                        R"("api":null,"thread":null,"device":null,"stream":null,"site":{)"
                        R"("function":null,"file":null,"line":null,"module":null,"offset":null},)"
                        R"("related":[],"rule":null,"fix":null})"));
}

TEST_F(ReporterTest, ColoursOnlyWhereAsked) {
  Make().Report(Example(1));
  EXPECT_THAT(Printed(), Not(HasSubstr("\033")));
  config_.color = Color::kOn;
  Make().Report(Example(1));
  EXPECT_THAT(Printed(), HasSubstr("\033[1;31merror:\033[0m \033[1mpeer-not-enabled\033[0m: "));
}

TEST_F(ReporterTest, RepeatsAreCountedAndNotReprinted) {
  Reporter& reporter = Make();
  for (int i = 0; i < 5; ++i) reporter.Report(Example(1));
  std::string text = Printed();
  EXPECT_EQ(text.find("belay:", 1), std::string::npos) << text;
  EXPECT_EQ(reporter.count(Severity::kError), 1u);
  EXPECT_THAT(Json(), HasSubstr("\"count\":5,"));

  reporter.Report(Example(2));
  Finding other_origin = Example(1);
  other_origin.related[0].site = {0x4321};
  reporter.Report(other_origin);
  Finding other_id = Example(1);
  other_id.id = FindingId::kPeerUnreachable;
  reporter.Report(other_id);
  EXPECT_EQ(reporter.count(Severity::kError), 4u);
}

TEST_F(ReporterTest, AFindingCanStandForSeveralObjects) {
  Reporter& reporter = Make();
  for (uint64_t times : {3, 4}) {
    Finding finding = Example(1);
    finding.times = times;
    reporter.Report(finding);
  }
  EXPECT_EQ(reporter.count(Severity::kError), 1u);
  EXPECT_THAT(Json(), HasSubstr("\"count\":7,"));
}

TEST_F(ReporterTest, RepeatsFromManyThreadsAreAllCounted) {
  Reporter& reporter = Make();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 100; ++k) reporter.Report(Example(static_cast<uint64_t>(k % 5) + 1));
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(reporter.count(Severity::kError), 5u);
  RunPage::StoredFinding finding;
  for (uint32_t i = 0; i < 5; ++i) {
    ASSERT_TRUE(reporter.page().ReadFinding(i, &finding));
    EXPECT_EQ(finding.count, 80u);
  }
}

TEST_F(ReporterTest, MoreFindingsThanRoomAreCounted) {
  config_.quiet = true;
  config_.symbolize = [](uint64_t, os::SymbolContext) { return os::Symbol(); };
  Reporter& reporter = Make();
  Finding finding(FindingId::kSlowPattern);
  for (uint64_t i = 1; i <= 6000; ++i) {
    finding.where.site = {i};
    reporter.Report(finding);
  }
  EXPECT_EQ(reporter.count(Severity::kNote), 6000u);
  EXPECT_GT(reporter.page().lost(), 0u);
}

TEST_F(ReporterTest, WhatIsOffIsNotReported) {
  config_.checks.Remove(FindingId::kPeerNotEnabled);
  Reporter& reporter = Make();
  EXPECT_FALSE(reporter.Wants(FindingId::kPeerNotEnabled));
  EXPECT_TRUE(reporter.Wants(FindingId::kUseAfterFree));
  reporter.Report(Example());
  EXPECT_EQ(Printed(), "");
  EXPECT_EQ(reporter.count(Severity::kError), 0u);
}

TEST_F(ReporterTest, SuppressesByIdAndBySite) {
  config_.suppress_file = TemporaryFile(".supp");
  std::ofstream(config_.suppress_file)
      << "peer-not-enabled:train::step1\npeer-unreachable:/opt/app/*\ndouble-free\n";
  Reporter& reporter = Make();
  reporter.Report(Example(1));
  reporter.Report(Example(1));
  Finding by_module = Example(3);
  by_module.id = FindingId::kPeerUnreachable;
  reporter.Report(by_module);
  EXPECT_FALSE(reporter.Wants(FindingId::kDoubleFree));
  EXPECT_EQ(Printed(), "");
  EXPECT_EQ(reporter.count(Severity::kError), 0u);
  reporter.Report(Example(2));
  EXPECT_THAT(Printed(), HasSubstr("train::step2"));
  EXPECT_EQ(reporter.count(Severity::kError), 1u);
}

TEST_F(ReporterTest, QuietPrintsErrorsOnly) {
  config_.quiet = true;
  Reporter& reporter = Make();
  Finding note(FindingId::kSlowPattern);
  reporter.Report(note);
  EXPECT_EQ(Printed(), "");
  reporter.Report(Example());
  EXPECT_THAT(Printed(), HasSubstr("peer-not-enabled"));
  EXPECT_EQ(reporter.count(Severity::kNote), 1u);
}

Reporter* g_reporter;

TEST_F(ReporterTest, ReportsFromASignalHandler) {
  g_reporter = &Make();
  struct sigaction action {};
  struct sigaction before {};
  action.sa_handler = [](int) { g_reporter->ReportFromSignal(Example(7)); };
  ASSERT_EQ(sigaction(SIGUSR1, &action, &before), 0);
  errno = 77;
  raise(SIGUSR1);
  EXPECT_EQ(errno, 77);
  sigaction(SIGUSR1, &before, nullptr);
  EXPECT_THAT(Printed(), HasSubstr("train::step7"));
}

TEST_F(ReporterTest, ErrorsStopTheProgramWhereAsked) {
  for (auto [how, signal] : {std::pair{OnFinding::kAbort, SIGABRT}, std::pair{OnFinding::kTrap, SIGTRAP}}) {
    config_.on_finding = how;
    pid_t child = fork();
    if (child == 0) {
      Reporter& reporter = Make();
      reporter.Report(Finding(FindingId::kSlowPattern));
      reporter.Report(Finding(FindingId::kTeardownOrder));
      ::signal(signal, SIG_DFL);
      reporter.Report(Example());
      _exit(0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == signal) << status;
    EXPECT_THAT(Printed(), HasSubstr("peer-not-enabled"));
  }
}

TEST_F(ReporterTest, WritesTheReport) {
  std::string file = TemporaryFile(".json");
  config_.report_files = {file};
  Reporter& reporter = Make();
  Finding finding = Example();
  finding.message.clear();
  finding.message.Append("tab\t quote\" back\\ line\n bell\a bad\xff umlaut\xc3\xa4");
  reporter.Report(finding);
  reporter.page().AcquireSlot()->AddCopy(4096);
  reporter.page().MarkDeviceOpened(1);
  ASSERT_TRUE(reporter.WriteReports(3));
  std::ifstream stream(file);
  std::string text((std::istreambuf_iterator<char>(stream)), {});
  const std::string finding_line =
      R"json({"id":"peer-not-enabled","severity":"error",)json"
      R"json("message":"tab\t quote\" back\\ line\n bell\u0007 bad\ufffd umlautä","count":1,)json"
      R"json("api":"aclrtMemcpyAsync","thread":4711,"device":1,"stream":3,)json"
      R"json("site":{"function":"train::step1","file":"/src/app/train.cc","line":41,)json"
      R"json("module":"/opt/app/train","offset":1},)json"
      R"json("related":[{"role":"allocated","api":"aclrtMalloc","thread":4711,"device":0,"stream":null,)json"
      R"json("site":{"function":null,"file":null,"line":null,"module":"/opt/app/train","offset":4660}}],)json"
      R"json("rule":"The device that does a copy needs access to the other one. (SPEC 32 §3)",)json"
      R"json("fix":"call aclrtDeviceEnablePeerAccess(0, 0) while device 1 is current"})json";
  EXPECT_THAT(text, HasSubstr(R"json( "schema":1,
 "command":["./train","--name","a \"b\""],
 "exit_status":3,
 "profile":{"product":"atlas-800t-a2","cann":"9.0","devices":8},
 "findings":[
  )json" + finding_line + R"json(
 ],
 "faults":[],
 "resources":{"processes":1,"calls":0,"copies":1,"bytes":4096,"lost_findings":0,"opened_devices":[1]}}
)json"));
  EXPECT_THAT(Json(std::nullopt), HasSubstr("\"exit_status\":null"));
}

TEST_F(ReporterTest, ReportsThatCannotBeWrittenAreSaid) {
  config_.report_files = {"/nonexistent/report.json"};
  EXPECT_FALSE(Make().WriteReports(0));
  EXPECT_THAT(Printed(), HasSubstr("report: cannot write '/nonexistent/report.json': No such file"));
  config_.report_files = {"out.sarif"};
  auto refused = Reporter::Create(config_);
  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(refused.error(), HasSubstr("'.sarif' are not built yet"));
}

}  // namespace
}  // namespace belay::check
