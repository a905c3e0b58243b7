#include "SDK/Headers/First.h"
#include <second.H>
#include "FIRST.H"
#include "Deeper/Same.h"
typedef struct _ALL { FIRST A; SECOND B; SAME C; } ALL;
