#pragma once
#define IMPORT_EXPORT_LIBHYPERDBG __declspec(dllimport)
typedef enum _STYLE
{
    STYLE_BYTES = 1,
} STYLE;

typedef struct _WALK
{
    UINT32 Count;
    struct
    {
        STYLE Style;
    } How;
} WALK, *PWALK;

IMPORT_EXPORT_LIBHYPERDBG BOOLEAN
hyperdbg_u_walk(PWALK walk);
