#pragma once
#define IMPORT_EXPORT_LIBHYPERDBG __declspec(dllimport)

IMPORT_EXPORT_LIBHYPERDBG UINT64
hyperdbg_u_ping();

IMPORT_EXPORT_LIBHYPERDBG INT
hyperdbg_u_stop_kd_driver();

IMPORT_EXPORT_LIBHYPERDBG UINT32
hyperdbg_u_count();
