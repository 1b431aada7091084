# The Debian package: `cpack -G DEB` in the build tree. It holds the install tree below /usr/lib/belay and nothing else, so
# removal leaves nothing; no script runs when it is installed. Not /opt: dpkg would take that folder away with the package.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME belay)
set(CPACK_PACKAGE_VENDOR Belay)
set(CPACK_PACKAGE_CONTACT "Belay <belay@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "software Ascend for AscendCL programs")
set(CPACK_PACKAGE_DESCRIPTION "Runs, tests and debugs AscendCL programs on a machine with no NPU.
Source /usr/lib/belay/set_env.sh, then: belay run -- ./app")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr/lib/belay)
# Files and symbols of Belay itself are of no use to its users.
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
# What the library and the tool need, tests/install checks it; written out, because dpkg-shlibdeps needs more packages.
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libc6 (>= 2.36), libgcc-s1 (>= 12), libstdc++6 (>= 12)")
include(CPack)
