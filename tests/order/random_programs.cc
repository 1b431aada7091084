// random_programs: runs random programs one after the other, so that their API log and the findings in it can
// be compared with an oracle.
//
//   --seed N        number of the first program (default 1); a program depends on its number only, with those
//                   since the last multiple of 16
//   --count N       how many (default 100)
//   --no-queries    without queries and host functions: then no finding depends on time
//   --skip P or P.S leaves out program P or its step S, which changes as little as possible of the others
//
// A program is a few calls of one host thread. Its number is the argument of aclrtSetOpExecuteTimeOut, which
// means nothing without kernels; at that call the host knows of every task. Exit codes: 0, 1 when a call
// failed, 2 on a wrong argument, 3 on a hang.
#include <acl/acl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>

#include "random_program.h"

namespace order {
namespace {

constexpr uint64_t kProgramsOfWorld = 16;
constexpr unsigned kPatienceSeconds = 60;

void Hangs(int) {
  constexpr char kText[] = "random_programs: a program hangs\n";
  if (write(STDERR_FILENO, kText, sizeof(kText) - 1) < 0) _exit(2);
  _exit(3);
}

int Main(int argc, char** argv) {
  uint64_t seed = 1, count = 100;
  bool queries = true;
  Skipped skipped;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--no-queries") == 0) {
      queries = false;
    } else if (i + 1 < argc && std::strcmp(argv[i], "--seed") == 0) {
      seed = std::strtoull(argv[++i], nullptr, 10);
    } else if (i + 1 < argc && std::strcmp(argv[i], "--count") == 0) {
      count = std::strtoull(argv[++i], nullptr, 10);
    } else if (i + 1 < argc && std::strcmp(argv[i], "--skip") == 0) {
      char* rest = nullptr;
      const uint64_t program = std::strtoull(argv[++i], &rest, 10);
      skipped.insert({program, *rest == '.' ? std::atoi(rest + 1) : -1});
    } else {
      std::fprintf(stderr, "random_programs: unknown argument %s\n", argv[i]);
      return 2;
    }
  }
  signal(SIGALRM, Hangs);
  OK(aclInit(nullptr));
  for (int device : {0, 1}) {
    OK(aclrtSetDevice(device));
    OK(aclrtDeviceEnablePeerAccess(1 - device, 0));
  }
  std::unique_ptr<World> world;
  for (uint64_t number = seed / kProgramsOfWorld * kProgramsOfWorld; number < seed + count; ++number) {
    alarm(kPatienceSeconds);
    if (number % kProgramsOfWorld == 0) {
      world.reset();
      world = std::make_unique<World>(number);
    }
    OK(aclrtSetOpExecuteTimeOut(static_cast<uint32_t>(number)));
    if (!skipped.contains({number, -1})) Program(*world, number, queries).Run(skipped);
  }
  world.reset();
  for (int device : {1, 0}) OK(aclrtResetDevice(device));
  OK(aclFinalize());
  return 0;
}

}  // namespace
}  // namespace order

int main(int argc, char** argv) {
  return order::Main(argc, argv);
}
