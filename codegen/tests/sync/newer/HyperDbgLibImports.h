#pragma once
#define IMPORT_EXPORT_LIBHYPERDBG __declspec(dllimport)
typedef struct _PACKET
{
    UINT32 Kind;
} PACKET, *PPACKET;

IMPORT_EXPORT_LIBHYPERDBG BOOLEAN
hyperdbg_u_ping();

IMPORT_EXPORT_LIBHYPERDBG BOOLEAN
hyperdbg_u_fill(UINT64 target_address, const UINT8 * pattern, UINT32 pattern_length, const CHAR * label, PACKET * packet, UINT64 * done, CHAR * text, UINT32 text_size, PVOID on_done_callback, CHAR ** argv);

IMPORT_EXPORT_LIBHYPERDBG BOOLEAN
hyperdbg_u_read(UINT64 address, UINT8 * buffer, UINT32 size);

IMPORT_EXPORT_LIBHYPERDBG INT
hyperdbg_u_stop_kd_driver();

IMPORT_EXPORT_LIBHYPERDBG BOOLEAN
hyperdbg_u_self_test();

IMPORT_EXPORT_LIBHYPERDBG VOID
hyperdbg_u_listen(PVOID handler);
