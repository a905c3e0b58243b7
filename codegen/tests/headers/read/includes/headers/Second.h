#pragma once
#include "same.h"
typedef int SECOND;
