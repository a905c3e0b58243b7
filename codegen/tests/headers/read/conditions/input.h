#if _WIN32
typedef unsigned __int64 U64;
#elif defined(__linux__)
typedef unsigned long long U64;
#else
#    error neither
#endif
#ifdef _WIN32
typedef wchar_t LETTER;
#else
typedef unsigned short LETTER;
#endif
#define LEVEL 3
#if defined(LEVEL) && LEVEL >= 2 && !defined MISSING && (MISSING == 0)
#    if LEVEL == 2
typedef char WRONG;
#    elif LEVEL == 3
typedef char RIGHT;
#    elif 1 / 0
typedef char NEVER_EVALUATED;
#    else
typedef char WRONG;
#    endif
#endif
#if 0
this isn't C, and "neither is this
#    unknown directive
#    if 1
#    else
#    endif
#elif (1 ? 2 : 3) == 2 && -1 < 0 && 0xffffffff > 0 && 'A' == 65 && (1 << 40) > 1
typedef char CHOSEN;
#endif
#ifndef LEVEL
typedef char WRONG;
#endif
typedef struct _WORD { U64 Big; LETTER Letter; } WORD_T;
