typedef struct _CONTROL
{
    union
    {
        unsigned long long Flags;
        struct
        {
            unsigned long long Low : 12;
            unsigned long long High : 52;
        } Fields;
    };
    struct
    {
        char First;
        int  Second;
    };
    union { int Number; float Real; } Both[2];
} CONTROL;
typedef union
{
    struct
    {
        unsigned int A : 4;
        unsigned int B : 28;
    };
    unsigned int AsUInt;
} ACCESS, *PACCESS;
int use(PACCESS access);
