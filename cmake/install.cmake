# The install tree that client builds expect. Everything in it is relocatable: links are relative, scripts find themselves.

# The version that client builds read; a run selects its own with the option `cann`.
set(BELAY_CANN_VERSION 9.0.0)

# Further names under which client builds link or open the library (libs.md §1): those whose functions it has, and those
# that stand on the link lines of clients beside it. A name that is only ever opened to find out whether a part is there,
# such as libdcmi.so, is no link: it is not there.
set(BELAY_LIBRARY_LINKS acl_rt runtime acl_tdt_channel acl_tdt_queue msprofiler ascend_dump ascendsk
  acl_op_compiler nnopbase opapi ascend_hal acl_cblas acl_dvpp acl_dvpp_mpi acl_dvpp_op acl_retr
  ge_runner graph graph_base ge_compiler ge_common ge_executor fmk_onnx_parser fmk_parser opsproto
  tiling_api register platform ascendalog metadef profapi error_manager mmpa c_sec unified_dlog slog
  llm_datadist cann_hixl)
list(TRANSFORM BELAY_LIBRARY_LINKS REPLACE "(.+)" "lib\\1.so")

set(arch ${CMAKE_SYSTEM_PROCESSOR})
set(files ${CMAKE_CURRENT_LIST_DIR}/files)
set(staged ${CMAKE_BINARY_DIR}/install)

# install(FILES) would follow a link, so links are made when the tree is installed.
function(belay_install_link place target)
  install(CODE "
    set(link \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${place}\")
    get_filename_component(folder \"\${link}\" DIRECTORY)
    file(MAKE_DIRECTORY \"\${folder}\")
    file(REMOVE \"\${link}\")
    file(CREATE_LINK \"${target}\" \"\${link}\" SYMBOLIC)
    message(STATUS \"Linking: \${link} -> ${target}\")")
endfunction()

install(TARGETS ascendcl hccl LIBRARY DESTINATION lib64)
install(TARGETS belay RUNTIME DESTINATION bin)
install(FILES ${CMAKE_BINARY_DIR}/man/belay.1 DESTINATION share/man/man1)
belay_install_link(bin/npu-smi belay)
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
file(CREATE_LINK belay ${CMAKE_BINARY_DIR}/bin/npu-smi SYMBOLIC)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/include/ DESTINATION include FILES_MATCHING PATTERN "*.h")
install(DIRECTORY ${CMAKE_SOURCE_DIR}/products/ DESTINATION share/belay/products FILES_MATCHING PATTERN "*.toml")
install(DIRECTORY ${CMAKE_SOURCE_DIR}/docs/ DESTINATION share/doc/belay/docs FILES_MATCHING PATTERN "*.md")
install(FILES ${CMAKE_SOURCE_DIR}/README.md ${CMAKE_SOURCE_DIR}/LICENSE DESTINATION share/doc/belay)

foreach(name ${BELAY_LIBRARY_LINKS})
  belay_install_link(lib64/${name} libascendcl.so)
  # The build tree gets the same names, so that `belay run` behaves alike in both.
  file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/lib64)
  file(CREATE_LINK libascendcl.so ${CMAKE_BINARY_DIR}/lib64/${name} SYMBOLIC)
endforeach()
foreach(name include lib64)
  belay_install_link(${arch}-linux/${name} ../${name})
endforeach()
belay_install_link(${arch}-linux/devlib ../lib64)
# The older split layout, which clients still probe.
foreach(part acllib fwkacllib runtime compiler)
  belay_install_link(${part}/include ../include)
  belay_install_link(${part}/lib64 ../lib64)
endforeach()

configure_file(${files}/version.cfg.in ${staged}/version.cfg @ONLY)
configure_file(${files}/ascend_toolkit_install.info.in ${staged}/ascend_toolkit_install.info @ONLY)
install(FILES ${staged}/version.cfg ${files}/set_env.sh DESTINATION .)
install(FILES ${staged}/ascend_toolkit_install.info DESTINATION ${arch}-linux)
install(FILES ${files}/setenv.bash DESTINATION bin)

include(CMakePackageConfigHelpers)
write_basic_package_version_file(${staged}/belay-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${files}/belay-config.cmake ${staged}/belay-config-version.cmake DESTINATION lib64/cmake/belay)
# Debian's CMake does not search lib64 below CMAKE_PREFIX_PATH; share/cmake is searched everywhere and is as deep.
belay_install_link(share/cmake/belay ../../lib64/cmake/belay)
