typedef enum _E
{
    ZERO,
    FIVE = 5,
    SIX, /* [5:0] a note – with a long dash */
    HEX = 0x10,
    SHIFTED = (1 << 4) | 1,
    SUM = HEX + FIVE,
    NEXT,
    LETTER = 'A',
    NEGATIVE = -3,
    MINUS_TWO,
    ALL_BITS = 0xffffffff,
    LARGEST = 0x7FFFFFFF,
} E, *PE;
enum UNNAMED_TYPEDEF { LAST_WITHOUT_COMMA = SUM };
#define FALSE 0
#define TRUE  1
typedef enum { OFF = FALSE, ON = TRUE } SWITCH;
typedef struct _HOLDS { E Value; SWITCH Switch; unsigned char After; } HOLDS;
