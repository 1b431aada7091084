// Says what the order checker found: as a finding, and as a line of the API log.
//
// Threading: any thread, also under a stream's lock: it calls nothing of the engine.
#pragma once

#include "check/order_checker.h"
#include "check/reporter.h"
#include "runtime/thread_state.h"

namespace belay::runtime {

class Runtime;

class OrderWatch {
 public:
  explicit OrderWatch(Runtime& runtime);

  check::OrderChecker& checker() { return checker_; }

  // A function of the program starts, or returned.
  void Function(bool starts, const engine::Stream& stream, const engine::Op& op);

 private:
  void SayUnwritten(const check::OrderChecker::Verdict& verdict);
  void Say(const check::OrderChecker::Verdict& verdict);

  Runtime& runtime_;
  check::OrderChecker checker_;
};

// Whether any of its findings is wanted.
bool WantsOrder(const check::Reporter& reporter);

}  // namespace belay::runtime
