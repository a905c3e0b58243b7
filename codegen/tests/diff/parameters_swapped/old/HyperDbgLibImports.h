#pragma once
#define IMPORT_EXPORT_LIBHYPERDBG __declspec(dllimport)
IMPORT_EXPORT_LIBHYPERDBG BOOLEAN
hyperdbg_u_ping();

IMPORT_EXPORT_LIBHYPERDBG BOOLEAN
hyperdbg_u_read(UINT64 address, UINT8 * buffer, UINT64 size);
