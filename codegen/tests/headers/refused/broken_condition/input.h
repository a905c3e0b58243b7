#if 1 +
typedef int A;
#endif
#if (2
#endif
#if UNKNOWN_FUNCTION(1)
#endif
#if 3 4
#endif
#if defined
#endif
#ifdef A B
#endif
#if 1 / 0
#endif
#if "text"
#endif
