enum A { B = 0x100000000 };
enum C { D = 0x7fffffff, E };
enum F { };
enum G { H, H };
enum I { J = NOT_A_CONSTANT };
enum K { L 3 };
