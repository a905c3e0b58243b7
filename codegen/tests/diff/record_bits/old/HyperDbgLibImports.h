#pragma once
#define IMPORT_EXPORT_LIBHYPERDBG __declspec(dllimport)
typedef struct _PACKET
{
    UINT32 Kind : 4;
    UINT32 Ready : 1;
    UINT32 Rest : 27;
} PACKET, *PPACKET;

IMPORT_EXPORT_LIBHYPERDBG BOOLEAN
hyperdbg_u_ping();

IMPORT_EXPORT_LIBHYPERDBG BOOLEAN
hyperdbg_u_read(PACKET * packet);
