#pragma once
typedef char BESIDE;
