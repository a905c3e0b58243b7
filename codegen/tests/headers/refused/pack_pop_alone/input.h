#pragma pack(push, 1)
#pragma pack(pop)
#pragma pack(pop)
