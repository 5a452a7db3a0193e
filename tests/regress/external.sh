# Sourced by test_install.sh and test_nogpl.sh: programs outside the project that use an installed
# libmeniscus, through pkg-config and through CMake.

write_external_program() { # folder
  mkdir -p "$1"
  cat >"$1/main.c" <<'END'
#include <meniscus/meniscus.h>
#include <stdio.h>
#include <string.h>

int main(void)
{
  mn_context_def def = mn_context_def_default();
  mn_context *ctx;
  if (mn_context_create(&def, &ctx) != MN_OK)
    return 1;
  /* a shape and the embedded scenes: code and data of several modules */
  mn_shape *disk;
  if (mn_shape_sphere(ctx, 2, (mn_vec3){{0, 0, 0}}, 1, &disk) != MN_OK)
    return 1;
  double d = mn_shape_distance(disk, (mn_vec3){{3, 0, 0}});
  mn_shape_destroy(&disk);
  mn_context_destroy(&ctx);
  printf("%s %g\n", mn_version(), d);
  return strcmp(mn_version(), MN_VERSION_STRING) != 0;
}
END
  cat >"$1/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.25)
project(external C)
find_package(meniscus 0.1 REQUIRED)
add_executable(external main.c)
target_link_libraries(external PRIVATE meniscus::meniscus)
END
}

expect() { # what, found, expected
  if [ "$2" != "$3" ]; then
    echo "FAIL $1: found '$2', expected '$3'"
    exit 1
  fi
  echo "ok   $1: $2"
}

check_pkg_config() { # prefix, folder, --static or nothing
  PKG_CONFIG_PATH=$(dirname "$(find "$1" -name meniscus.pc)")
  export PKG_CONFIG_PATH
  expect "pkg-config version" "$(pkg-config --modversion meniscus)" "$VERSION"
  # shellcheck disable=SC2046
  cc -Wall -Wextra -Werror -std=c17 "$2/main.c" -o "$2/by-pkg-config" \
    $(pkg-config --cflags --libs $3 meniscus) -Wl,-rpath,"$(pkg-config --variable=libdir meniscus)"
  expect "program built with pkg-config $3" "$("$2/by-pkg-config")" "$VERSION 2"
}

check_cmake() { # prefix, folder
  cmake -S "$2" -B "$2/build" -G Ninja -DCMAKE_PREFIX_PATH="$1" -DCMAKE_BUILD_TYPE=Release >"$2/log" 2>&1 &&
    cmake --build "$2/build" >>"$2/log" 2>&1 || { cat "$2/log"; exit 1; }
  expect "program built with find_package" "$("$2/build/external")" "$VERSION 2"
  # a version that is not there must be refused
  sed -i 's/meniscus 0.1/meniscus 99.0/' "$2/CMakeLists.txt"
  if cmake -S "$2" -B "$2/build99" -G Ninja -DCMAKE_PREFIX_PATH="$1" >"$2/log" 2>&1; then
    echo "FAIL find_package accepted version 99.0"
    exit 1
  fi
  sed -i 's/meniscus 99.0/meniscus 0.1/' "$2/CMakeLists.txt"
}
