# The contact solver alone: needs BLAS/LAPACK and AMD/CAMD, builds, and passes a test of its own.
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)
run(${CMAKE_COMMAND} -S ${SOURCE} -B ${WORK} -DCMAKE_C_COMPILER=${CC} -DCMAKE_BUILD_TYPE=Debug
    -DCMAKE_C_FLAGS_DEBUG=-O0 -DRIGOR_CONTACT_ONLY=ON -DRIGOR_BENCH=OFF -DRIGOR_TESTS=ON)
run(${CMAKE_COMMAND} --build ${WORK} --parallel 2 --target rigor contact_test_convex)
set(ENV{OPENBLAS_NUM_THREADS} 1)
run(${WORK}/test/contact_test_convex)
execute_process(COMMAND ldd ${WORK}/librigor.so OUTPUT_VARIABLE needed ERROR_QUIET)
foreach(library hdf5 expat qhull)
    if(needed MATCHES ${library})
        message(FATAL_ERROR "the contact solver alone needs ${library}")
    endif()
endforeach()

# No variable of the environment may change what the solver does.
run(${NM} -D --undefined-only ${WORK}/librigor.so)
if(output MATCHES " U (getenv|secure_getenv)")
    message(FATAL_ERROR "the contact solver looks at the environment")
endif()
