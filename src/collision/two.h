// Two numbers at a time.
#pragma once
#include "math/two.h" // IWYU pragma: export
