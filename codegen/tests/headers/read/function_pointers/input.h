typedef int (*SendText)(const char * Text);
typedef VOID (*SendNothing)(VOID);
typedef void (__stdcall * Convention)(int code, SendText inner);

typedef int (*Table)(unsigned first, SendText second);
typedef struct _HOOKS { SendText Text; Table Table; } HOOKS;
int set(SendText handler);
