typedef int B;
