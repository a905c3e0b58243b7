typedef struct _BAD { NO_SUCH Member; } BAD, *PBAD;
typedef struct _USES { BAD Inner; PBAD Pointer; } USES;
int takes(PBAD a, USES * b);
int other(STRANGER c);
