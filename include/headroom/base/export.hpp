#pragma once

// The shared library hides every symbol by default; what users may call carries HEADROOM_API.
#define HEADROOM_API __attribute__((visibility("default")))
