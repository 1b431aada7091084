// A registered buffer of the heap that ends inside a page: what else lies there is used as ever.
#include "program.h"

int main() {
  Begin();
  aclrtStream stream = NewStream();
  constexpr size_t kOdd = 4096 + 1000;
  unsigned char* device = NewDevice();
  auto* block = static_cast<unsigned char*>(aligned_alloc(4096, 4 * 4096));
  std::memset(block, 3, 4 * 4096);
  unsigned char* neighbour = block + kOdd;
  void* mapped = nullptr;
  EXPECT_OK(aclrtHostRegister(block, kOdd, ACL_HOST_REGISTER_MAPPED, &mapped));
  for (int step = 0; step < 3; ++step) {
    EXPECT_OK(aclrtMemcpyAsync(block, kOdd, device, kOdd, kDown, stream));  // result here
    neighbour[1] = static_cast<unsigned char>(step);
    EXPECT_TRUE(neighbour[0] == 3 && neighbour[1] == step);
    if (BAD && step == 1) block[4000] = 9;  // BUG host-target-early: result
    EXPECT_OK(aclrtSynchronizeStream(stream));
    if (step != 1) EXPECT_TRUE(block[4000] == 1 && block[kOdd - 1] == 1);
  }
  EXPECT_OK(aclrtHostUnregister(block));
  free(block);
  EXPECT_OK(aclrtFree(device));
  return End();
}
