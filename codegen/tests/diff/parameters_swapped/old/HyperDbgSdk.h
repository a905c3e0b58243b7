#pragma once
#define VERSION_MAJOR 1
#define VERSION_MINOR 0
#define VERSION_PATCH 0
#define DEBUGGER_ERROR_NOT_THERE 0xc0000001
#define DEBUGGER_ERROR_TOO_LATE 0xc0000002
#define MAXIMUM_INSTR_SIZE 16
typedef unsigned char BOOLEAN;
typedef unsigned char UINT8;
typedef unsigned int UINT32;
typedef int INT;
typedef unsigned long long UINT64;
