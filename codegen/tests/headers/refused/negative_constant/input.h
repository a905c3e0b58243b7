#define GOOD 1
#define BAD -1
