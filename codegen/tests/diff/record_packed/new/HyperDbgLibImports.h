#pragma once
#define IMPORT_EXPORT_LIBHYPERDBG __declspec(dllimport)
#pragma pack(push, 1)
typedef struct _PACKET
{
    UINT64 Kind;
} PACKET, *PPACKET;
#pragma pack(pop)

IMPORT_EXPORT_LIBHYPERDBG BOOLEAN
hyperdbg_u_ping();

IMPORT_EXPORT_LIBHYPERDBG BOOLEAN
hyperdbg_u_read(PACKET * packet);
