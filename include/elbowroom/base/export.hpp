#pragma once

// The shared library hides every symbol by default; what users may call carries ELBOWROOM_API.
#define ELBOWROOM_API __attribute__((visibility("default")))
