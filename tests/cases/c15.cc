// C15: where pointers lie: mapped, from malloc, inside a block, pinned.
#include <sys/mman.h>

#include "case.h"

void Expect(const void* ptr, int type, uint32_t page) {
  aclrtPtrAttributes attributes;
  EXPECT_OK(aclrtPointerGetAttributes(ptr, &attributes));
  EXPECT_TRUE(static_cast<int>(attributes.location.type) == type);
  EXPECT_TRUE(attributes.location.id == 0 && attributes.pageSize == page);
}

int main() {
  EXPECT_OK(aclInit(nullptr));
  EXPECT_OK(aclrtSetDevice(0));
  const size_t size = 8192;
  void *block = nullptr, *pinned = nullptr;
  EXPECT_OK(aclrtMalloc(&block, size, ACL_MEM_MALLOC_NORMAL_ONLY));
  EXPECT_OK(aclrtMallocHost(&pinned, size));
  void* mapped = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  void* heap = std::aligned_alloc(4096, size);
  const auto inside = [](void* ptr) { return static_cast<char*>(ptr) + 5000; };
  Expect(block, ACL_MEM_LOCATION_TYPE_DEVICE, 4096);
  Expect(inside(block), ACL_MEM_LOCATION_TYPE_DEVICE, 4096);
  Expect(pinned, ACL_MEM_LOCATION_TYPE_HOST, 4096);
  Expect(inside(pinned), ACL_MEM_LOCATION_TYPE_HOST, 4096);
  Expect(mapped, ACL_MEM_LOCATION_TYPE_UNREGISTERED, 0);
  Expect(heap, ACL_MEM_LOCATION_TYPE_UNREGISTERED, 0);
  // Registered, both become memory that the runtime knows.
  for (void* ptr : {mapped, heap}) {
    EXPECT_OK(aclrtHostRegisterV2(ptr, size, ACL_HOST_REG_PINNED));
    Expect(inside(ptr), ACL_MEM_LOCATION_TYPE_HOST, 4096);
    EXPECT_OK(aclrtHostUnregister(ptr));
    Expect(ptr, ACL_MEM_LOCATION_TYPE_UNREGISTERED, 0);
  }
  munmap(mapped, size);
  std::free(heap);
  EXPECT_OK(aclrtFreeHost(pinned));
  EXPECT_OK(aclrtFree(block));
  EXPECT_OK(aclrtResetDevice(0));
  EXPECT_OK(aclFinalize());
  return Result();
}
