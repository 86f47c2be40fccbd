# What is installed: both libraries, headers, rigor.pc and the CMake package; the program elsewhere.
# The contact solver alone goes by a name of its own and brings the headers that it serves.
install(TARGETS rigor EXPORT ${RIGOR_NAME}Targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS rigor_static ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(RIGOR_CONTACT_ONLY)
    install(FILES include/rigor/base.h include/rigor/contact.h include/rigor/device.h
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/rigor)
else()
    install(DIRECTORY include/rigor DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
    install(DIRECTORY models examples DESTINATION ${CMAKE_INSTALL_DATADIR}/rigor
        PATTERN CMakeLists.txt EXCLUDE)
endif()

# What the static library needs, as files.
set(RIGOR_STATIC_LINK ${OPENBLAS_LINK_LIBRARIES} ${AMD_LIBRARY} ${CAMD_LIBRARY})
if(NOT RIGOR_CONTACT_ONLY)
    list(APPEND RIGOR_STATIC_LINK ${HDF5_LINK_LIBRARIES} ${EXPAT_LINK_LIBRARIES}
        ${QHULL_LINK_LIBRARIES} ${PNG_LINK_LIBRARIES})
endif()
list(APPEND RIGOR_STATIC_LINK ${CMAKE_THREAD_LIBS_INIT} m)
list(REMOVE_DUPLICATES RIGOR_STATIC_LINK)

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/${RIGOR_NAME})
install(EXPORT ${RIGOR_NAME}Targets NAMESPACE ${RIGOR_NAME}:: DESTINATION ${package_folder})
configure_package_config_file(cmake/rigorConfig.cmake.in ${RIGOR_NAME}Config.cmake
    INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${RIGOR_NAME}ConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${RIGOR_NAME}Config.cmake
    ${CMAKE_CURRENT_BINARY_DIR}/${RIGOR_NAME}ConfigVersion.cmake DESTINATION ${package_folder})

# The prefix is found from where the .pc file lies, so that the installed tree may be moved. Programs
# remember where the library was, unless the system's loader looks there anyway.
file(RELATIVE_PATH RIGOR_PC_UP ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
set(RIGOR_PC_RPATH " -Wl,-rpath,\${libdir}")
if(CMAKE_INSTALL_PREFIX STREQUAL "/usr")
    set(RIGOR_PC_RPATH "")
endif()
set(RIGOR_PC_PRIVATE "")
foreach(library IN LISTS RIGOR_STATIC_LINK)
    if(NOT library MATCHES "[/-]") # m
        set(library -l${library})
    endif()
    string(APPEND RIGOR_PC_PRIVATE " ${library}")
endforeach()
configure_file(cmake/rigor.pc.in ${RIGOR_NAME}.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${RIGOR_NAME}.pc
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
