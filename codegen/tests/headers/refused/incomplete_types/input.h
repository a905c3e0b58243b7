struct _NEVER;
typedef struct _A { struct _NEVER B; } A;
typedef struct _SELF { struct _SELF Inner; } SELF;
int x[sizeof(struct _NEVER)];
typedef struct _VOID { VOID Nothing; } VOIDS;
