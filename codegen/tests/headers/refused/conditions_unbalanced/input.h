#endif
#else
#ifdef A
#else
#elif B
#else
#endif
#if 1
typedef int A;
