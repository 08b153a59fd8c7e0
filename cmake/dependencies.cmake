# SPDX-License-Identifier: LGPL-2.1-or-later
# All of these are Debian 12 packages; ./quickstart installs those in packaging/debian-packages.
find_package(PkgConfig REQUIRED)
find_package(fmt REQUIRED)
find_package(CLI11 REQUIRED)
find_package(GTest REQUIRED)
find_package(tl-expected REQUIRED)
find_package(RapidJSON REQUIRED)
pkg_check_modules(libnl REQUIRED IMPORTED_TARGET libnl-3.0 libnl-genl-3.0)
pkg_check_modules(libteam REQUIRED IMPORTED_TARGET libteam)
pkg_check_modules(libbpf REQUIRED IMPORTED_TARGET libbpf)
pkg_check_modules(libsystemd REQUIRED IMPORTED_TARGET libsystemd)
pkg_check_modules(libcap REQUIRED IMPORTED_TARGET libcap)
pkg_check_modules(yaml REQUIRED IMPORTED_TARGET yaml-cpp) # teamoctl reads netplan files
find_program(CLANG NAMES clang clang-14 REQUIRED)
find_program(BPFTOOL NAMES bpftool PATHS /usr/sbin /sbin REQUIRED)
