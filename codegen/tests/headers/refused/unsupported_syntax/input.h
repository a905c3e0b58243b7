class A { int B; };
template <class T> struct B { T Value; };
enum class C { D };
enum E : int { F };
struct G : public H { int I; };
struct J { int method(void); };
int body(void) { return 1; }
struct K { struct TAGGED { int A; }; };
alignas(8) int aligned;
auto guessed = 1;
int default_argument(int a = 3);
namespace N { }
int;
@
