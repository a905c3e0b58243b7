int (;
int a b;
typedef unsigned signed int C;
typedef long char D;
typedef long long long E;
extern "Rust" int f(void);
int g(void;
struct { int a };
int h(void, int);
