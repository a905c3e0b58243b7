#pragma once
#define IMPORT_EXPORT_LIBHYPERDBG __declspec(dllimport)

typedef enum _STYLE
{
    STYLE_BYTES = 1,
    STYLE_WORDS = 2,
    STYLE_TYPES
} STYLE;

typedef enum _SPACE
{
    SPACE_VIRTUAL,
    SPACE_PHYSICAL
} SPACE;

typedef enum _MAKER
{
    MAKER_ONE,
    MAKER_OTHER
} MAKER;

typedef enum _DEPTH
{
    DEPTH_ONE,
    DEPTH_ALL
} DEPTH;

typedef struct _WALK
{
    DEPTH Depth;
    UINT32 Count;
    UINT32 KernelStatus;
} WALK, *PWALK;

IMPORT_EXPORT_LIBHYPERDBG BOOLEAN
hyperdbg_u_ping();

IMPORT_EXPORT_LIBHYPERDBG BOOLEAN
hyperdbg_u_read(UINT64 address, UINT64 limit, SPACE space, UINT8 * buffer, UINT32 size);

IMPORT_EXPORT_LIBHYPERDBG BOOLEAN
hyperdbg_u_write(UINT8 * what, UINT32 amount);

IMPORT_EXPORT_LIBHYPERDBG BOOLEAN
hyperdbg_u_show(STYLE style);

IMPORT_EXPORT_LIBHYPERDBG BOOLEAN
hyperdbg_u_walk(PWALK walk);

IMPORT_EXPORT_LIBHYPERDBG MAKER
hyperdbg_u_maker();

IMPORT_EXPORT_LIBHYPERDBG BOOLEAN
hyperdbg_u_self_test();

IMPORT_EXPORT_LIBHYPERDBG VOID
hyperdbg_u_listen(PVOID handler);
