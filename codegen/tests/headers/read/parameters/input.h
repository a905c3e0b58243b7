typedef char CHAR;
typedef unsigned int UINT32;
int no_name(CHAR *);
int nothing_cxx();
int nothing_c(void);
int nothing_typedef(VOID);
int second_without_name(UINT32 first, const CHAR *, UINT32 third);
int arrays(int argc, CHAR * argv[], UINT32 grid[4]);
int pointers(CHAR ** list, const CHAR * const text, UINT32 volatile * flag);
