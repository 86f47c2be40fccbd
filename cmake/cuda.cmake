# librigor_cuda.so: the lanes (src/lanes) and worlds (src/device) on GPUs of NVIDIA, where nvcc is found. librigor opens it at run time;
# nothing links with it, and without it nothing else is missing. Machine code for the listed compute capabilities,
# and PTX of the first for all others, which the driver compiles at start. That takes minutes: `make cuda` builds it,
# and `make` does with RIGOR_CUDA=ON.
set(RIGOR_CUDA AUTO CACHE STRING "Build librigor_cuda.so: ON, OFF, AUTO (where there is nvcc, by the target rigor_cuda alone)")
set(RIGOR_CUDA_CODE 80 90 100 120 CACHE STRING "Compute capabilities that librigor_cuda.so has machine code for")

if(RIGOR_CUDA STREQUAL "AUTO" AND
    (RIGOR_SANITIZE OR RIGOR_CONTACT_ONLY OR NOT CMAKE_BUILD_TYPE STREQUAL "Release"))
    return()
endif()
if(NOT RIGOR_CUDA STREQUAL "AUTO" AND NOT RIGOR_CUDA)
    return()
endif()
find_program(RIGOR_NVCC nvcc HINTS $ENV{CUDA_HOME}/bin /usr/local/cuda/bin)
if(NOT RIGOR_NVCC)
    if(RIGOR_CUDA AND NOT RIGOR_CUDA STREQUAL "AUTO")
        message(FATAL_ERROR "RIGOR_CUDA is ON and nvcc is not to be found (RIGOR_NVCC)")
    endif()
    return()
endif()

execute_process(COMMAND ${RIGOR_NVCC} --list-gpu-code OUTPUT_VARIABLE nvcc_known)
set(cuda_code)
foreach(code IN LISTS RIGOR_CUDA_CODE)
    if(nvcc_known MATCHES "sm_${code}\n")
        list(APPEND cuda_code -gencode arch=compute_${code},code=sm_${code})
        if(NOT cuda_ptx)
            set(cuda_ptx -gencode arch=compute_${code},code=compute_${code})
        endif()
    endif()
endforeach()
# No contraction, as everywhere: the same bits as on the host. copysign is constexpr; functions of src/collision are
# declared for the device before their files (20040).
file(GLOB cuda_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/lanes/*.cu ${PROJECT_SOURCE_DIR}/src/lanes/*.h
    ${PROJECT_SOURCE_DIR}/src/device/*.cu ${PROJECT_SOURCE_DIR}/src/device/*.h
    ${PROJECT_SOURCE_DIR}/src/collision/*.c ${PROJECT_SOURCE_DIR}/src/collision/*.h ${PROJECT_SOURCE_DIR}/src/math/*.h)
set(cuda_library ${PROJECT_BINARY_DIR}/librigor_cuda.so)
add_custom_command(OUTPUT ${cuda_library}
    COMMAND ${RIGOR_NVCC} -std=c++17 -O3 --threads 2 ${cuda_code} ${cuda_ptx} -fmad=false -cudart static
        --expt-relaxed-constexpr -diag-suppress 20040
        -Xcompiler -fPIC,-fvisibility=hidden,-ffp-contract=off -Xlinker --as-needed,--version-script=${PROJECT_SOURCE_DIR}/cmake/cuda.map
        -I${PROJECT_SOURCE_DIR}/include -I${PROJECT_SOURCE_DIR}/src -shared -o ${cuda_library}
        ${PROJECT_SOURCE_DIR}/src/lanes/cuda.cu ${PROJECT_SOURCE_DIR}/src/device/worlds.cu
    DEPENDS ${cuda_sources} ${PROJECT_SOURCE_DIR}/src/contact/tuning.h ${PROJECT_SOURCE_DIR}/src/world/tuning.h
        ${PROJECT_SOURCE_DIR}/src/math/basis.c ${PROJECT_SOURCE_DIR}/include/rigor/math.h ${PROJECT_SOURCE_DIR}/src/base/base.h
        ${PROJECT_SOURCE_DIR}/include/rigor/device.h ${PROJECT_SOURCE_DIR}/include/rigor/contact.h
    COMMENT "Building librigor_cuda.so" VERBATIM)
if(RIGOR_CUDA STREQUAL "AUTO")
    add_custom_target(rigor_cuda DEPENDS ${cuda_library})
else()
    add_custom_target(rigor_cuda ALL DEPENDS ${cuda_library})
endif()
install(FILES ${cuda_library} DESTINATION ${CMAKE_INSTALL_LIBDIR} OPTIONAL)
