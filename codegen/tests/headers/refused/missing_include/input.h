typedef int A;
#include "SDK/headers/NotHere.h"
#include <ntddk.h>
