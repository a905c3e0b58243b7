typedef unsigned int UINT32, *PUINT32;
typedef struct _LONG_NAME_OF_A_REQUEST
{
    UINT32
    OnNextLine;
    UINT32
    ArrayOnNextLine
        [4];
    UINT32 A, *B, C[2];
} LONG_NAME_OF_A_REQUEST,
    *PLONG_NAME_OF_A_REQUEST;
typedef int GRID[2][3];
typedef struct _HAS_GRIDS { GRID One; GRID Two[4]; int Three[5][6]; char (*Pointer); } HAS_GRIDS;
typedef long long unsigned SHUFFLED;
typedef const char * TEXT;
typedef volatile int FLAG;
unsigned long long int returns_long(TEXT text, FLAG * flag);
typedef struct _FLEXIBLE { UINT32 Count; unsigned short Items[]; } FLEXIBLE;
typedef struct _NO_ITEMS { UINT32 Count; unsigned short Items[0]; } NO_ITEMS;
