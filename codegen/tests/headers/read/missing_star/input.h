typedef struct _ENTRY { unsigned long long From; unsigned long long To; } ENTRY, PENTRY;
typedef struct _STACK { ENTRY One; PENTRY Two; } STACK, PSTACK;
int top(PSTACK * stack);
