typedef unsigned long DWORD, ULONG;
typedef struct _PORT
{
    DWORD          Baud;
    unsigned long  Mask;
    long           Offset;
    ULONG          Limit;
    unsigned short Word;
    wchar_t        Letter;
    long long      Big;
    bool           Open;
} PORT;
int open_port(DWORD baud);
#ifdef __linux__
#    define SUPPORTED 1
#endif
