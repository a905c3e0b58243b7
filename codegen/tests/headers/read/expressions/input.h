#define A1 (1 + 2 * 3 - 4 / 2 % 3)
#define A2 0xffffffffffffff00
#define A3 0x00000000ffffffff
#define A4 (1 << 31 >> 31) & 1
#define A5 1ULL << 55
#define A6 ~0u
#define A7 !0 + !5
#define A8 (unsigned char)0x1ff
#define A9 (((WORD)0x12345) & 0xFF)
#define B1 sizeof(long long unsigned) * 2
#define B2 sizeof(char *) + sizeof(short[3]) + sizeof(struct _S)
#define B3 TRUE_ENUM ? 10 : 20
#define B4 (5 > 3) + (5 >= 5) + (2 < 1) + (2 <= 1) + (1 == 1) + (1 != 1)
#define B5 0x48 ^ 0x0F | 0x100
#define B6 'a' + '\n' + '\x10' + '\0'
#define B7 017 + 0b101
#define B8 1 || 1 / 0
#define B9 0 && 1 / 0
#define C1 (unsigned)-1 > 0
#define C2 -1 < 1u
#define C3 (bool)7
#define C4 (enum _T)3
#define C5 0x80000000
#define C6 4294967295
#define C7 10ui64 + 20i64 + 30UL
typedef unsigned short WORD;
struct _S { int A; char B; };
enum _T { TRUE_ENUM = 1 };
