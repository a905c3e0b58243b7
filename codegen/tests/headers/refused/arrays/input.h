typedef char HUGE[0x100000000];
typedef char PRODUCT[0x10000][0x10000];
typedef struct _MANY { char A[0x7fffffff]; char B[0x7fffffff]; } MANY;
typedef int NEGATIVE[1 - 2];
typedef int INNER_UNKNOWN[2][];
typedef void NOTHING[2];
typedef int (CALLS[2])(void);
struct _MIDDLE { int A[]; int B; };
int UNSIZED[];
