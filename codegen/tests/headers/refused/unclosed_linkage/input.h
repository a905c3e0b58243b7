extern "C" {
int a(void);
