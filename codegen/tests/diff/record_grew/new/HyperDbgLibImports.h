#pragma once
#define IMPORT_EXPORT_LIBHYPERDBG __declspec(dllimport)
typedef struct _PACKET
{
    UINT32 Kind;
    UINT64 Address;
    UINT32 Size;
    UINT64 Cores[4];
} PACKET, *PPACKET;

IMPORT_EXPORT_LIBHYPERDBG BOOLEAN
hyperdbg_u_ping();

IMPORT_EXPORT_LIBHYPERDBG BOOLEAN
hyperdbg_u_read(PACKET * packet);
