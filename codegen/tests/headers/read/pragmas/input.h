#pragma warning(disable : 4201) // nameless records
#pragma region Types
#pragma
#
typedef struct _X { struct { int A; }; } X;
#pragma endregion
