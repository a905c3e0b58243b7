#pragma once
#define IMPORT_EXPORT_LIBHYPERDBG __declspec(dllimport)
IMPORT_EXPORT_LIBHYPERDBG BOOLEAN
hyperdbg_u_ping();

IMPORT_EXPORT_LIBHYPERDBG BOOLEAN
hyperdbg_u_read(UINT64 address, const UINT8 * buffer, UINT32 size);
