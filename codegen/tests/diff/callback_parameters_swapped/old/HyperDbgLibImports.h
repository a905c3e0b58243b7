#pragma once
#define IMPORT_EXPORT_LIBHYPERDBG __declspec(dllimport)
typedef INT (*Watcher)(UINT64 first, UINT64 last);

IMPORT_EXPORT_LIBHYPERDBG BOOLEAN
hyperdbg_u_read(Watcher watcher);
