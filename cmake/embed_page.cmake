# Writes OUTPUT, a C array of the bytes of PAGE; an empty one when PAGE could not be built.
set(bytes "")
if(EXISTS ${PAGE})
    file(READ ${PAGE} hex HEX)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
    string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)" "\\1\n" bytes
        "${bytes}")
endif()
file(WRITE ${OUTPUT} "// The viewer's page, made by cmake/embed_page.cmake.
#include \"view/view.h\"

const unsigned char rgPageBytes[] = {\n${bytes}0};
const size_t rgPageByteCount = sizeof(rgPageBytes) - 1;
")
