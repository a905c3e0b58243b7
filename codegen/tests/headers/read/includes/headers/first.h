#pragma once
#include "second.h"
typedef struct _FIRST { SECOND Inner; } FIRST;
