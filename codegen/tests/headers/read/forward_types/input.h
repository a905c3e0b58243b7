typedef struct _LATER LATER, *PLATER;
struct _OPAQUE;
typedef struct _NODE
{
    struct _NODE *   Next;
    PLATER           Later;
    struct _OPAQUE * Hidden;
    LATER *          Again;
} NODE, *PNODE;
struct _LATER { int Value; NODE Inner; };
int walk(struct _OPAQUE * hidden, PNODE node);
