// One operation again and again, for a profiler: bench_profile OPERATION COUNT.
//
// The profiler watches `Profiled`. The queued operations want BELAY workers=0, so that the caller's thread
// does all of the work.
#include "device_ring.h"
#include "measure.h"
#include "mutex_pair.h"
#include "side_belay.h"

extern "C" __attribute__((noinline)) void Profiled(const std::function<void()>& work) {
  work();
}

namespace {

constexpr int kDepth = 1000;

struct Subject {
  bench::SideBelay side;
  bench::DeviceRing ring;

  Subject() { MUST(aclrtSetDevice(0)); }
  ~Subject() { MUST(aclrtSetDevice(0)); }
};

template <class F>
void Repeat(int count, F operation) {
  Profiled([&] {
    for (int i = 0; i < count; ++i) operation(i);
  });
}

// Queues kDepth operations and runs them.
template <class F>
void Queue(Subject& subject, int count, F operation) {
  for (int done = 0; done < count; done += kDepth) {
    subject.side.Hold();
    Repeat(kDepth, operation);
    subject.side.Release();
    Profiled([&] { subject.side.Synchronize(1), subject.side.Synchronize(0); });
  }
}

struct Operation {
  const char* name;
  void (*run)(Subject&, int count);
};

const Operation kOperations[] = {
    {"enqueue", [](Subject& subject, int count) { Repeat(count, [&](int) { subject.side.Copy(0); }); }},
    {"h2d+sync",
     [](Subject& subject, int count) {
       Repeat(count, [&](int) { subject.side.Copy(0), subject.side.Synchronize(0); });
     }},
    {"d2h+sync",
     [](Subject& subject, int count) {
       subject.side.Copy(0), subject.side.Synchronize(0);
       Repeat(count, [&](int) { subject.side.Fetch(0), subject.side.Synchronize(0); });
     }},
    {"malloc+free",
     [](Subject&, int count) {
       Repeat(count, [](int) {
         void* block = nullptr;
         MUST(aclrtMalloc(&block, size_t{1} << 20, ACL_MEM_MALLOC_HUGE_FIRST));
         MUST(aclrtFree(block));
       });
     }},
    {"sync", [](Subject& subject, int count) { Repeat(count, [&](int) { subject.side.Synchronize(0); }); }},
    {"record+sync",
     [](Subject& subject, int count) { Repeat(count, [&](int) { subject.side.RecordAndSynchronize(0); }); }},
    {"hop", [](Subject& subject,
               int count) { Repeat(count, [&](int i) { subject.side.Hop(i & 1, 1 - (i & 1)); }); }},
    {"queued-copy",
     [](Subject& subject, int count) { Queue(subject, count, [&](int) { subject.side.Copy(0); }); }},
    {"queued-hop",
     [](Subject& subject, int count) {
       Queue(subject, count, [&](int i) { subject.side.Hop(i & 1, 1 - (i & 1)); });
     }},
    {"devices", [](Subject& subject,
                   int count) { Repeat(count, [&](int i) { subject.ring.Task(i % subject.ring.size()); }); }},
};

}  // namespace

int main(int argc, char** argv) {
  const Operation* chosen = nullptr;
  for (const Operation& operation : kOperations) {
    if (argc == 3 && operation.name == std::string(argv[1])) chosen = &operation;
  }
  if (chosen == nullptr) {
    fprintf(stderr, "%s OPERATION COUNT, with one of:", argv[0]);
    for (const Operation& operation : kOperations) fprintf(stderr, " %s", operation.name);
    fprintf(stderr, "\n");
    return 2;
  }
  bench::Start();
  bench::KeepASecondThread();
  {
    Subject subject;
    chosen->run(subject, atoi(argv[2]));
  }
  MUST(aclFinalize());
}
