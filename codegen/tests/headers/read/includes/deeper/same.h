#pragma once
typedef int SAME;
