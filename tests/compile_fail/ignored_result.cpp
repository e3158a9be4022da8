// fails: \[-Werror=unused-result\]|\[-Werror,-Wunused-result\]
#include "elbowroom/base/result.hpp"

using namespace elbowroom;

Result<int> answer() { return 42; }

#ifdef CONTROL
int main() { return answer().ok() ? 0 : 1; }
#else
int main() { answer(); }
#endif
