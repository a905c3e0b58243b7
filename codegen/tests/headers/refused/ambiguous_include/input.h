#include "Twice.h"
