int printer(const char * format, ...);
int callback(int (*handler)(int));
int constant_pointer(char * const * list);
int rows(int (*row)[3]);
typedef int GRID[2][3];
int grid(GRID grid);
