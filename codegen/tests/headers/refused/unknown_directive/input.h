#import "x.h"
#define 3
#define
#define F(a,,b) 1
#define G(a
#define H(a, a) 1
#undef
#include
#include NAME
