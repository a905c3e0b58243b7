#pragma once
#define IMPORT_EXPORT_LIBHYPERDBG __declspec(dllimport)
typedef struct _PACKET
{
    UINT32 Kind;
    UINT8 Size[4];
    UINT64 Data;
} PACKET, *PPACKET;

IMPORT_EXPORT_LIBHYPERDBG BOOLEAN
hyperdbg_u_ping();

IMPORT_EXPORT_LIBHYPERDBG BOOLEAN
hyperdbg_u_read(PACKET * packet);
