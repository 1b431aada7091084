// Nothing that is queued ends the wait. A thread outside the API still can, and does once the warning is out.
// finding: never-fires warning
// says: waits for a flag event
// run: --stall-after 0.2
#include <poll.h>

#include <future>
#include <string>

#include "cause.h"

namespace {

// Copies what is written to stderr on, until a finding of this id was in it.
void AwaitFinding(int from, int to, const std::string& id) {
  std::string text;
  pollfd readable = {from, POLLIN, 0};
  while (text.find(id) == std::string::npos && poll(&readable, 1, 30000) == 1) {
    char part[4096];
    const ssize_t size = read(from, part, sizeof part);
    if (size <= 0) break;
    text.append(part, static_cast<size_t>(size));
    if (write(to, part, static_cast<size_t>(size)) != size) break;
  }
}

}  // namespace

int main() {
  int pipe_ends[2];
  const int terminal = dup(STDERR_FILENO);
  if (pipe(pipe_ends) != 0 || dup2(pipe_ends[1], STDERR_FILENO) < 0) return 2;
  Begin();
  aclrtStream producer = NewStream(), consumer = NewStream();
  aclrtEvent ready = NewFlagEvent();
  aclrtContext context = nullptr;
  EXPECT_OK(aclrtGetCurrentContext(&context));
  Bytes bytes;
  bytes.Fill('a', producer);
  std::promise<void> recorded;
  std::thread recorder([&] {
    if (BAD) AwaitFinding(pipe_ends[0], terminal, "never-fires");
    EXPECT_OK(aclrtSetCurrentContext(context));
    EXPECT_OK(aclrtRecordEvent(ready, producer));
    recorded.set_value();
  });
#if !BAD
  recorded.get_future().wait();
#endif
  EXPECT_OK(aclrtStreamWaitEvent(consumer, ready));  // waits here
  bytes.Fetch(consumer);
  EXPECT_OK(aclrtSynchronizeStream(consumer));  // BUG
  recorder.join();
  EXPECT_OK(aclrtSynchronizeStream(producer));
  bytes.End('a');
  EXPECT_OK(aclrtDestroyEvent(ready));
  EXPECT_OK(aclrtDestroyStream(producer));
  EXPECT_OK(aclrtDestroyStream(consumer));
  dup2(terminal, STDERR_FILENO);
  return End();
}
