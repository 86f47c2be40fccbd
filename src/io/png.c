// Grey images in PNG files, by libpng.
#include "io/png.h"

#include <png.h>
#include <stdio.h>
#include <string.h>

bool rgReadPng(const void* bytes, size_t count, size_t mostPixels, const rgAllocator* allocator,
               rgGreyImage* image, char reason[100]) {
    png_image png;
    memset(&png, 0, sizeof(png));
    png.version = PNG_IMAGE_VERSION;
    *image = (rgGreyImage){0};
    if (!png_image_begin_read_from_memory(&png, bytes, count)) {
        snprintf(reason, 100, "%.90s", png.message);
        png_image_free(&png);
        return false;
    }
    png.format = PNG_FORMAT_GRAY;
    size_t pixelCount = (size_t)png.width * png.height;
    bool fits = png.width > 0 && png.height > 0 && pixelCount <= mostPixels;
    image->pixels = fits ? rgAllocate(allocator, pixelCount, 1) : NULL;
    png_color black = {0, 0, 0}; // background of transparent pixels
    bool good =
        image->pixels != NULL && png_image_finish_read(&png, &black, image->pixels, 0, NULL);
    if (!good) {
        snprintf(reason, 100, "%.90s",
                 !fits                   ? "the image is too large"
                 : image->pixels == NULL ? "out of memory"
                                         : png.message);
        rgRelease(allocator, image->pixels);
        *image = (rgGreyImage){0};
    } else {
        image->width = (int)png.width;
        image->height = (int)png.height;
    }
    png_image_free(&png);
    return good;
}
