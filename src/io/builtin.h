// The table that cmake/embed.cmake makes from models/.
#pragma once
#include "rigor/io.h"

extern const rgBuiltinModel rgBuiltinModels[];
extern const int rgBuiltinModelTotal;
