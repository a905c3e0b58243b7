struct __attribute__((packed)) A { char B; int C; };
__declspec(align(16)) int D;
typedef int E __attribute__((aligned(8)));
