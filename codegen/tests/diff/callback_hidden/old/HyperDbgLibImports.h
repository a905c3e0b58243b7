#pragma once
#define IMPORT_EXPORT_LIBHYPERDBG __declspec(dllimport)
typedef void (*Handler)(const char * text);

IMPORT_EXPORT_LIBHYPERDBG BOOLEAN
hyperdbg_u_ping();

IMPORT_EXPORT_LIBHYPERDBG BOOLEAN
hyperdbg_u_read(UINT64 address, UINT8 * buffer, UINT32 size);

IMPORT_EXPORT_LIBHYPERDBG INT
hyperdbg_u_stop_driver();

IMPORT_EXPORT_LIBHYPERDBG VOID
hyperdbg_u_listen(Handler handler);
