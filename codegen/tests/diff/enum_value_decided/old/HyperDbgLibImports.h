#pragma once
#define IMPORT_EXPORT_LIBHYPERDBG __declspec(dllimport)
typedef enum _STYLE
{
    STYLE_BYTES = 1,
} STYLE;

IMPORT_EXPORT_LIBHYPERDBG BOOLEAN
hyperdbg_u_show(STYLE style);
