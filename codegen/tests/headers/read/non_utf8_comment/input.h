/* By Björn, © of a café */
#pragma once
typedef struct _NOTE
{
    unsigned char Text[4]; // äöü
} NOTE;
