#define SIZE 3
#define SIZE 3
#define SIZE 4
#define F(a) a
#define F(b) b
