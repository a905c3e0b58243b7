#pragma once
#define IMPORT_EXPORT_LIBHYPERDBG __declspec(dllimport)
typedef struct _PACKET
{
    UINT32 Kind;
} PACKET, *PPACKET;
typedef struct _OUTER { PACKET Inner; UINT32 After; } OUTER;

IMPORT_EXPORT_LIBHYPERDBG BOOLEAN
hyperdbg_u_ping();

IMPORT_EXPORT_LIBHYPERDBG BOOLEAN
hyperdbg_u_read(OUTER * outer);
