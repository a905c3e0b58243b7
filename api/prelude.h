/*
 * What HyperDbg's SDK headers expect of the system's own headers.
 *
 * It is read before the SDK, and `#include <windows.h>` and its kind are satisfied by it. It holds the common names
 * of those headers that releases of the SDK rely on; a release that defines one itself repeats the same type, which C
 * allows. Sizes and shapes are those of the Windows x64 and the Linux x86-64 ABI. TCHAR is left out on purpose: its
 * width depends on how a program is built, no release uses it, and a guess would be worse than an error.
 */

#ifdef _WIN32

typedef void VOID;

typedef unsigned long long size_t;
typedef unsigned long long SIZE_T, *PSIZE_T;
typedef unsigned long long ULONG_PTR, *PULONG_PTR;
typedef unsigned long long ULONGLONG;
typedef long long          LONGLONG;
typedef long long          time_t;

typedef void * PVOID;
typedef void * LPVOID;
typedef void * HANDLE;

typedef char           CHAR, *PCHAR;
typedef unsigned char  UCHAR, *PUCHAR;
typedef wchar_t        WCHAR;
typedef short          SHORT, *PSHORT;
typedef unsigned short USHORT, *PUSHORT;
typedef long           LONG, *PLONG;
typedef unsigned long  ULONG, *PULONG;
typedef unsigned long  DWORD, *PDWORD;

typedef struct _LIST_ENTRY
{
    struct _LIST_ENTRY * Flink;
    struct _LIST_ENTRY * Blink;
} LIST_ENTRY, *PLIST_ENTRY;

typedef union _LARGE_INTEGER
{
    struct
    {
        unsigned long LowPart;
        long          HighPart;
    };
    long long QuadPart;
} LARGE_INTEGER, *PLARGE_INTEGER;

#    define MAX_PATH 260

#else

typedef unsigned long size_t;
typedef long          time_t;

#endif

#define PAGE_SIZE 4096
