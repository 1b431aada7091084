// Initialises the runtime once for the process: what initialisation itself does is tested by
// lifecycle_test.cc.
#include "support.h"

namespace {

class Runtime : public testing::Environment {
 public:
  void SetUp() override { ASSERT_OK(aclInit(nullptr)); }
  void TearDown() override { EXPECT_OK(aclFinalize()); }
};

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  testing::AddGlobalTestEnvironment(new Runtime);
  return RUN_ALL_TESTS();
}
