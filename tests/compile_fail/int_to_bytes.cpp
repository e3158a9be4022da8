// fails: conversion from .int. to non-scalar type|no viable conversion from .int.
#include "headroom/base/quantities.hpp"

using namespace headroom;

#ifdef CONTROL
Bytes pad = Bytes(1024);
#else
Bytes pad = 1024;
#endif
