typedef unsigned char UCHAR;
#define STRINGIFY(x) #x
#define TOSTRING(x)  STRINGIFY(x)
#define MAJOR        12
#ifdef __cplusplus
const UCHAR Stamp[] = {(__DATE__[0] == 'J' ? '1' : '0'), __TIME__[1], TOSTRING(MAJOR)[0], '\0'};
const UCHAR Version[] = "v" TOSTRING(MAJOR) "\0";
#endif
static const char *const Names[] = {
    "ONE",
    "TWO, {not a brace}",
};
extern int Counter;
static const int Limits[2] = {1, (2)}, One = 1;
typedef struct _AFTERWARDS { int A; } AFTERWARDS;
