#include "input.h"
