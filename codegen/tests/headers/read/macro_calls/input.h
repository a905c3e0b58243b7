#define TWICE(x)        ((x) * 2)
#define PAIR(a, b)      (a + b)
#define JOIN(a, b)      a##b
#define FIELD(name, n)  int JOIN(name, n)
#define LIST(first, ...) first, ## __VA_ARGS__
#define CALL(f, ...)    f(__VA_ARGS__)
#define NOTHING()       3
#define SELF            SELF_VALUE + 0 * (SELF_VALUE)
#define SELF_VALUE      7
#define LOOP            LOOP
typedef struct _MADE
{
    int  A[TWICE(2 + 1)];
    int  B[PAIR(TWICE(1), PAIR(2, 3))];
    FIELD(Counter, 1);
    FIELD(Counter, 2);
    char D[CALL(PAIR, 4, 5)];
    char E[NOTHING()];
    char F[TWICE (
        4
    )];
    char LOOP;
} MADE;
int listed(int LIST(a));
int listed_two(int LIST(a, int b));
#undef SELF_VALUE
#define SELF_VALUE 9
#define NINE SELF
