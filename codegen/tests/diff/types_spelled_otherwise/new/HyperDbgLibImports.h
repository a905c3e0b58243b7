#pragma once
#define IMPORT_EXPORT_LIBHYPERDBG __declspec(dllimport)

IMPORT_EXPORT_LIBHYPERDBG void
hyperdbg_u_ping(void * at);

IMPORT_EXPORT_LIBHYPERDBG unsigned
char hyperdbg_u_read(unsigned long long address, unsigned char * buffer, UINT32 size);
