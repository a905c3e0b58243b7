typedef int A;
