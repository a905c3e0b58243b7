typedef struct _QUERY_QUERY { int State; } OTHER_NAME, *POTHER_NAME;
typedef enum KIND { KIND_A, KIND_B } KIND;
typedef struct REGS { long long A; } REGS, *PREGS;
struct ONLY_TAG { int A; };
enum ONLY_ENUM_TAG { ONLY_ONE };
int by_tag(ONLY_TAG * one, enum ONLY_ENUM_TAG two, struct _QUERY_QUERY * three, KIND four);
