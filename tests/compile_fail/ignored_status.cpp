// fails: \[-Werror=unused-result\]|\[-Werror,-Wunused-result\]
#include "headroom/base/result.hpp"

using namespace headroom;

Status check() { return {}; }

#ifdef CONTROL
int main() { return check().ok() ? 0 : 1; }
#else
int main() { check(); }
#endif
