#define AREA \
    (2 * \
     3)
#ifdef AREA
typedef struct _PAGE
{
    int Cells[AREA]; // six
} PAGE;
#endif
void turn(PAGE * page,
          int    by);
