// The main thread reads a word of mapped host memory, outside the API, until a stream has written it.
#include "link.h"

namespace program {
namespace {

void Behind(const LinkKind* kind, size_t size) {
  constexpr size_t kPage = 4096;
  uint8_t* host = Pinned(kPage, 0);
  void* alias = nullptr;
  OK(aclrtHostRegister(host, kPage, ACL_HOST_REGISTER_MAPPED, &alias));
  aclrtStream first = NewStream(), last = kind == nullptr ? first : NewStream();
  {
    RoundTrip trip(size, 1);
    Link link(kind == nullptr ? LinkKind::kEvent : *kind);
    trip.Out(first);
    trip.Back(first);
    if (kind != nullptr) {
      link.Record(first);
      link.Wait(last);
    }
    OK(aclrtValueWrite(alias, 9, 0, last));
    const auto* word = reinterpret_cast<const uint64_t*>(host);
    while (__atomic_load_n(word, __ATOMIC_ACQUIRE) != 9) std::this_thread::yield();
    CHECK(trip.Arrived());
  }
  if (last != first) OK(aclrtDestroyStream(last));
  OK(aclrtDestroyStream(first));
  OK(aclrtHostUnregister(host));
  OK(aclrtFreeHost(host));
}

}  // namespace
}  // namespace program

int main() {
  using namespace program;
  Begin();
  for (size_t size : {size_t{64}, size_t{3} << 20}) {
    Behind(nullptr, size);
    for (const LinkKind& kind : kLinkKinds) Behind(&kind, size);
  }
  End();
  return 0;
}
