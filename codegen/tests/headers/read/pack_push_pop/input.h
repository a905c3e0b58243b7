typedef struct _BEFORE { char A; int B; } BEFORE;
#pragma pack(push, 1) // packed tightly
typedef struct _TIGHT { char A; int B; long long C; } TIGHT;
#pragma pack(push, 2)
typedef struct _TWO { char A; int B; } TWO;
#pragma pack(pop) /* back to one */
typedef struct _AGAIN { char A; BEFORE B; } AGAIN;
#pragma pack(pop)
typedef struct _AFTER { char A; TIGHT B; int C; } AFTER;
#pragma pack(push)
#pragma pack(4)
typedef struct _FOUR { char A; long long B; } FOUR;
#pragma pack(pop)
typedef struct _LAST { char A; long long B; } LAST;
