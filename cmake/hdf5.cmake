# HDF5 of any flavour: serial, or parallel with the MPI that its headers name.
set(RIGOR_HDF5 "hdf5-serial;hdf5;hdf5-openmpi;hdf5-mpich" CACHE STRING
    "pkg-config names of HDF5; the first that is there is taken")

function(rigor_add_mpi)
    file(WRITE ${CMAKE_BINARY_DIR}/hdf5_flavour.c
        "#include <hdf5.h>\n#ifdef H5_HAVE_PARALLEL\n#error parallel\n#endif\nint main(void) { return 0; }\n")
    try_compile(RIGOR_HDF5_IS_SERIAL ${CMAKE_BINARY_DIR}/hdf5_flavour
        ${CMAKE_BINARY_DIR}/hdf5_flavour.c
        CMAKE_FLAGS "-DINCLUDE_DIRECTORIES=${HDF5_INCLUDE_DIRS}" -DCMAKE_TRY_COMPILE_TARGET_TYPE=STATIC_LIBRARY)
    if(NOT RIGOR_HDF5_IS_SERIAL)
        find_package(MPI REQUIRED COMPONENTS C)
        target_link_libraries(PkgConfig::HDF5 INTERFACE MPI::MPI_C)
    endif()
endfunction()
