#define F(a) a
int x[F(1];
#define G 1
