typedef union _HEADER
{
    struct _ENDPOINT { unsigned short Vendor; unsigned int Bar[2]; } Endpoint;
    struct _BRIDGE { unsigned char Primary; unsigned char Secondary; } Bridge;
} HEADER, *PHEADER;
typedef struct _BOX
{
    struct _ENDPOINT Copy;
    enum _COLOR { RED, GREEN = 5, BLUE } Color;
    enum { SMALL = 1, LARGE };
    char Name[LARGE];
} BOX;
