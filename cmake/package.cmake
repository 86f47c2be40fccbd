# `make deb`: one Debian package with the program, the libraries and the headers; what it depends on is
# read from the binaries.
set(CPACK_PACKAGE_NAME rigor)
set(CPACK_PACKAGE_CONTACT "the developers of rigor")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_GENERATOR DEB)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS libopenblas0-pthread) # the serial one is not for several threads
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "gnuplot-nox, chromium")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
    "Simulates robots and bodies in rigid or compliant frictional contact, without relaxing the contact
 laws: the program rigor, a C library and its headers.")
include(CPack)
