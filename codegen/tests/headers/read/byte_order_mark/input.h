#define WIDTH 3
typedef struct _ROW
{
    char Cells[WIDTH];
} ROW;
