# SPDX-License-Identifier: LGPL-2.1-or-later
# Everything is a Debian 12 package; ./quickstart installs the list in packaging/debian-packages.
find_package(PkgConfig REQUIRED)
find_package(fmt REQUIRED)
find_package(CLI11 REQUIRED)
find_package(GTest REQUIRED)
find_package(tl-expected REQUIRED)
find_package(RapidJSON REQUIRED)
pkg_check_modules(libnl REQUIRED IMPORTED_TARGET libnl-3.0 libnl-route-3.0 libnl-genl-3.0)
pkg_check_modules(libbpf REQUIRED IMPORTED_TARGET libbpf)
pkg_check_modules(libsystemd REQUIRED IMPORTED_TARGET libsystemd)
pkg_check_modules(libcap REQUIRED IMPORTED_TARGET libcap)
find_program(CLANG NAMES clang clang-14 REQUIRED)
find_program(BPFTOOL NAMES bpftool PATHS /usr/sbin /sbin REQUIRED)
