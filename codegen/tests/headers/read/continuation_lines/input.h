#define LONG_ONE 1 + \
    2 + \
    3
#def\
ine SPLIT 4
typedef struct _SPLIT_NA\
ME { int A[LONG_ONE]; int B[SPL\
IT]; } SPLIT_NAME; // a comment that goes \
on here
/* a comment with ** and // and \ in it */
int after(void);
