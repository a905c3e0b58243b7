#pragma ms_struct on
#pragma pack(3)
#pragma pack(push, name, 1)
#pragma pack(show)
#pragma pack 1
