// fails: conversion from .int. to non-scalar type|no viable conversion from .int.
#include "elbowroom/base/quantities.hpp"

using namespace elbowroom;

#ifdef CONTROL
Bytes pad = Bytes(1024);
#else
Bytes pad = 1024;
#endif
