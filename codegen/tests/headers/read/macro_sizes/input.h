typedef unsigned int UINT32;
#define PAGE 4096
#define CHUNK PAGE
#define BUFFER sizeof(UINT32) + CHUNK + 1
#define SERIAL 20 * PAGE
#define WITH_ROOM CHUNK + 0x100
#define TWICE_TEXT 2 * BUFFER
#define TWICE_VALUE 2 * (BUFFER)
#define SIZEOF_PACKET \
    sizeof(PACKET)
typedef struct _PACKET
{
    unsigned char Data[BUFFER];
    unsigned char Doubled[BUFFER * 2];
    unsigned char Halved[SERIAL / 2];
    unsigned char Rest[PAGE - sizeof(UINT32[3])];
} PACKET, *PPACKET;
#define PACKET_AND_ONE SIZEOF_PACKET + 1
