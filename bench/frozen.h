// The frozen collections of contact problems: bench/problems/collections.tar.xz.
#pragma once
#include "cases.h"

// Unpack them below a folder and find every `stride`-th of them. False after a message.
bool rgFindFrozen(const char* folder, int stride, rgCaseFiles* files);
