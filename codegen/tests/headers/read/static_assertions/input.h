typedef struct _SMALL { char Data[100]; } SMALL;
static_assert(sizeof(SMALL) < 4096,
              "the text " "in parts");
_Static_assert(sizeof(long) == 4 && sizeof(wchar_t) == 2 && sizeof(void *) == 8 && _Alignof(SMALL) == 1, "sizes");
static_assert(offsetof(SMALL, Data) == 0);
typedef struct _LARGE { SMALL Parts[2]; static_assert(sizeof(SMALL) == 100, "inside"); } LARGE;
static_assert(sizeof(LARGE) == 2 * sizeof(SMALL), "after");
