#ifdef __linux__
#    define ALSO_THERE 1
#endif
typedef struct _SHARED { unsigned int A : 3; unsigned int B : 5; unsigned int C : 24; } SHARED;
typedef struct _FULL { unsigned int A : 20; unsigned int B : 20; } FULL;
typedef struct _TYPE_CHANGES { unsigned char A : 1; unsigned int B : 1; unsigned char C : 1; } TYPE_CHANGES;
typedef struct _SAME_SIZE { int A : 3; unsigned int B : 5; } SAME_SIZE;
typedef struct _THEN_PLAIN { unsigned int A : 2; unsigned char Plain; unsigned int B : 2; } THEN_PLAIN;
typedef struct _GAPS { unsigned int A : 2; unsigned int : 3; unsigned int B : 2; } GAPS;
typedef struct _BROKEN { unsigned int A : 2; unsigned int : 0; unsigned int B : 2; char C; } BROKEN;
typedef struct _LEADING_ZERO { int : 0; char A; long long : 0; char B; } LEADING_ZERO;
typedef struct _WIDE { unsigned long long A : 16, B : 40, C : 8; } WIDE;
typedef union _CHOICE { unsigned int A : 3; unsigned long long B : 40; char C; } CHOICE;
#pragma pack(push, 1)
typedef struct _TIGHT { char First; unsigned int A : 20; unsigned int B : 20; char Last; } TIGHT;
#pragma pack(pop)
#define FLAG_BITS 2
enum { OTHER_BITS = 4 };
typedef struct _FROM_MACROS { unsigned short A : FLAG_BITS; unsigned short B : FLAG_BITS + OTHER_BITS; } FROM_MACROS;
