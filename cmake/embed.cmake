# Writes OUTPUT, a C table of (name, bytes) of the files in FILES (separated by |). Names ending in
# .xml lose the ending.
string(REPLACE "|" ";" FILES "${FILES}")
set(arrays "")
set(rows "")
set(index 0)
foreach(file IN LISTS FILES)
    file(READ ${file} hex HEX)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
    string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)" "\\1\n" bytes
        "${bytes}")
    get_filename_component(name ${file} NAME)
    string(REGEX REPLACE "\\.xml$" "" name ${name})
    string(APPEND arrays "static const unsigned char file${index}[] = {\n${bytes}0};\n")
    string(APPEND rows "    {\"${name}\", file${index}, sizeof(file${index}) - 1},\n")
    math(EXPR index "${index} + 1")
endforeach()
file(WRITE ${OUTPUT} "// Made from models/ by cmake/embed.cmake.
#include \"io/builtin.h\"

${arrays}
const rgBuiltinModel rgBuiltinModels[] = {
${rows}};
const int rgBuiltinModelTotal = ${index};
")
