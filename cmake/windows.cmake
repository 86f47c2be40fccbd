# Cross compiling for 64-bit Windows by mingw-w64 on Debian, and running what was built with wine: preset windows.
# .ci/windows makes the folder of libraries.
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR AMD64)
set(CMAKE_C_COMPILER x86_64-w64-mingw32-gcc)
set(CMAKE_RC_COMPILER x86_64-w64-mingw32-windres)
get_filename_component(RIGOR_WINDOWS_ROOT ${CMAKE_CURRENT_LIST_DIR}/../build/windows/sysroot ABSOLUTE)
set(CMAKE_FIND_ROOT_PATH ${RIGOR_WINDOWS_ROOT} /usr/x86_64-w64-mingw32)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_LIBDIR} ${RIGOR_WINDOWS_ROOT}/lib/pkgconfig)
# gcc aligns the stack of this system to 16 bytes only and yet moves vectors of 32 bytes as aligned (gcc bug 54412).
# It also checks formats by those of the old C library; printf here is that of C99 (__USE_MINGW_ANSI_STDIO).
set(CMAKE_C_FLAGS_INIT "-Wa,-muse-unaligned-vector-move -Wno-format -Wno-format-extra-args")
set(CMAKE_EXE_LINKER_FLAGS_INIT "-static-libgcc")
set(CMAKE_SHARED_LINKER_FLAGS_INIT "-static-libgcc")
find_program(RIGOR_WINE NAMES wine64 wine)
set(CMAKE_CROSSCOMPILING_EMULATOR ${RIGOR_WINE})
