typedef struct _A
{
    char A;
#pragma pack(1)
    int B;
} A;
