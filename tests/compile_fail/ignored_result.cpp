// fails: \[-Werror=unused-result\]|\[-Werror,-Wunused-result\]
#include "headroom/base/result.hpp"

using namespace headroom;

Result<int> answer() { return 42; }

#ifdef CONTROL
int main() { return answer().ok() ? 0 : 1; }
#else
int main() { answer(); }
#endif
