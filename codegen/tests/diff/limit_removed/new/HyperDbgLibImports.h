#pragma once
#define IMPORT_EXPORT_LIBHYPERDBG __declspec(dllimport)
IMPORT_EXPORT_LIBHYPERDBG BOOLEAN
hyperdbg_u_ping();

