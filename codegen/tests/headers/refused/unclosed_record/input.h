struct A { int B;
