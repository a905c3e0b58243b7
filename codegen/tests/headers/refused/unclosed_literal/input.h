#define NEVER_USED 'open
int a[] = { "open };
