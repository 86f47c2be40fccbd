// Grey images in PNG files.
#pragma once
#include "base/base.h"

// One byte per pixel, row by row from the top.
typedef struct rgGreyImage {
    int width, height;
    uint8_t* pixels;
} rgGreyImage;

// Decode the bytes of a file; colours become their brightness. False, with the reason, when it is
// no PNG file or larger than `mostPixels`. The caller frees pixels with rgRelease.
bool rgReadPng(const void* bytes, size_t count, size_t mostPixels, const rgAllocator* allocator,
               rgGreyImage* image, char reason[100]);
