typedef struct _A { } A;
typedef struct _B { int C[0]; } B;
