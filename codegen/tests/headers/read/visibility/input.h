#ifdef _WIN32
#    ifdef BUILDS_IT
#        define IMPORT_EXPORT_LIBHYPERDBG __declspec(dllexport)
#        define OTHER                     __declspec(dllexport)
#    else
#        define IMPORT_EXPORT_LIBHYPERDBG __declspec(dllimport)
#        define OTHER                     __declspec(dllimport)
#    endif
#else
#    define IMPORT_EXPORT_LIBHYPERDBG __attribute__((visibility("default")))
#    define OTHER
#endif
#ifdef __cplusplus
extern "C" {
#endif
//
// A banner
//
IMPORT_EXPORT_LIBHYPERDBG int
exported_one();

IMPORT_EXPORT_LIBHYPERDBG unsigned char
exported_two(int     first,
             char ** second);

OTHER int elsewhere(void);
__attribute__((visibility("default"))) int attributed(void) __attribute__((warn_unused_result));
#ifdef __cplusplus
}
#endif
extern "C" int alone(int x);
extern int __cdecl conventional(int x);
