#pragma pack(1)
typedef struct _DEVICE
{
    unsigned char Bus : 8;
    unsigned char Slot : 5;
    unsigned char Function : 3;
    int           Value;
} DEVICE;
typedef struct _BYTES { char A; char B; } BYTES;
#pragma pack()
typedef struct _NATURAL { char A; int B; } NATURAL;
