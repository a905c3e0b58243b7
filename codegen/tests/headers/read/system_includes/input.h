#include <windows.h>
#include <stdint.h>
typedef struct _USES
{
    HANDLE        Handle;
    SIZE_T        Size;
    LARGE_INTEGER Large;
    LIST_ENTRY    Entry;
    char          Path[MAX_PATH];
    ULONGLONG     Long;
    WCHAR         Wide[2];
    LONG          Signed;
    ULONG_PTR     Word;
    time_t        Time;
    char          Page[PAGE_SIZE];
} USES;
int use(VOID);
