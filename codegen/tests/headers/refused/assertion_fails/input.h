typedef struct _A { int B[3]; } A;
static_assert(sizeof(A) == 12, "fine");
static_assert(sizeof(A) == 16,
              "not fine");
