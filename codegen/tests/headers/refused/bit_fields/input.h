struct A { int B : 33; };
struct C { char * D : 3; };
struct E { int F : 0; };
struct G { int H : -1; };
struct I { float J : 2; };
struct K { int L : 2 M; };
