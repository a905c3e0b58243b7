#define JOIN(a, b) a##b
int x = JOIN(+, =1);
int y = JOIN(/, /);
