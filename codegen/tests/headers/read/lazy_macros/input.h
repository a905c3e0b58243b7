#define LOG_SIZE CAPACITY *(CHUNK + sizeof(KERNEL_HEADER))
#define EVENT sizeof(KERNEL_EVENT) + 100
#define APOSTROPHE it's never used
#define CODE(type, function) (((type) << 16) | ((function) << 2))
#define READ_CODE CODE(0x22, 0x800 + 0x01)
#define EMPTY
#define TEXT_ONLY "never a number"
typedef struct _KEPT { int A EMPTY; } KEPT;
