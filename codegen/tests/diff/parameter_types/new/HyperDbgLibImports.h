#pragma once
#define IMPORT_EXPORT_LIBHYPERDBG __declspec(dllimport)

IMPORT_EXPORT_LIBHYPERDBG BOOLEAN
hyperdbg_u_ping();

IMPORT_EXPORT_LIBHYPERDBG BOOLEAN
hyperdbg_u_read(UINT32 address, UINT8 * buffer, INT size);

IMPORT_EXPORT_LIBHYPERDBG INT
hyperdbg_u_stop_driver(UINT8 * how, UINT64 * why);
