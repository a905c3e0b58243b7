typedef unsigned int UINT32;
typedef struct _A
{
    UINT32 Good;
    UNIT32 Misspelled;
} A;
int takes(MYSTERY value);
int array(int x[sizeof(NOWHERE)]);
