#!/bin/bash
# The include rule between folders (docs/design.md): a module includes only itself and what stands above
# it; fluid and solid meet in couple alone; only src/par knows MPI and PETSc; public headers and the
# program see public headers only.
set -eu
source_dir=$2

# Modules in their order; io, the last, sees the world but not scenes.
order="base math la geom grid pressure fluid/mac fluid/sph solid contact couple par world scene io"

declare -A rank
place=0
for module in $order; do
  rank[$module]=$((place += 1))
done

module_of() { # path below src; sets REPLY
  case $1 in
    fluid/*/*) REPLY=${1#fluid/} REPLY=fluid/${REPLY%%/*} ;;
    */*) REPLY=${1%%/*} ;;
    *) REPLY=none ;;
  esac
}

may_include() { # module, included module: the two differ
  case $1:$2 in
    fluid/*:solid | solid:fluid/* | io:scene) return 1 ;;
    *) [ "${rank[$2]:-99}" -lt "${rank[$1]}" ] ;;
  esac
}

# Prints "file:line: what" for every include that breaks the rule; nothing if there is none.
violations() { # root of a source tree
  local root=$1 file line text path from to quoted
  while IFS=: read -r file line text; do
    file=${file#"$root"/}
    [[ $text =~ [\"\<]([^\"\>]*)[\"\>] ]] && path=${BASH_REMATCH[1]}
    case $text in *'"'*) quoted=1 ;; *) quoted=0 ;; esac
    case $file:$path in
      src/par/*:*) ;;
      *:mpi.h | *:petsc*) echo "$file:$line: $path belongs to src/par" ;;
    esac
    case $file in
      include/*)
        case $quoted:$path in
          1:meniscus/* | 0:std*.h) ;;
          *) echo "$file:$line: a public header includes $path" ;;
        esac
        ;;
      app/*)
        case $quoted:$path in
          1:meniscus/* | 0:*) ;;
          1:*/*) echo "$file:$line: the program includes $path, which is not public" ;;
          *) [ -f "$root/app/$path" ] || echo "$file:$line: the program includes $path, which is not in app/" ;;
        esac
        ;;
      src/*)
        [ $quoted = 1 ] || continue
        case $path in meniscus/*) continue ;; esac
        module_of "${file#src/}" && from=$REPLY
        module_of "$path" && to=$REPLY
        if [ -z "${rank[$from]:-}" ]; then
          echo "$file:$line: $from is no folder of docs/design.md"
        elif [ "$from" != "$to" ] && ! may_include "$from" "$to"; then
          echo "$file:$line: $from must not include $path"
        fi
        ;;
    esac
  done < <(grep -rnE '^[[:space:]]*#[[:space:]]*include' "$root/src" "$root/include" "$root/app" --include='*.[ch]')
}

found=$(violations "$source_dir")
if [ -n "$found" ]; then
  echo "$found"
  echo "FAIL the include rule is broken"
  exit 1
fi
echo "ok   $(grep -rE '^[[:space:]]*#[[:space:]]*include' "$source_dir/src" "$source_dir/include" "$source_dir/app" | wc -l) includes keep the rule"

# ---- negative controls: each of these lines, alone, must be found; each of those, not ----------------
work=$(mktemp -d /tmp/meniscus-includes.XXXXXX)
trap 'rm -rf "$work"' EXIT

try() { # bad|good, file, include line
  rm -rf "$work/tree"
  mkdir -p "$work/tree/src/base" "$work/tree/include/meniscus" "$work/tree/app" "$(dirname "$work/tree/$2")"
  echo "#include <stdio.h>" >"$work/tree/src/base/x.c"
  echo "int app;" >"$work/tree/app/cli.h"
  echo "  #  include $3" >>"$work/tree/$2"
  local count
  count=$(violations "$work/tree" | wc -l)
  case $1:$count in
    bad:1 | good:0) ;;
    *) echo "FAIL control: $2 with #include $3 should be $1, $count violations found"; exit 1 ;;
  esac
}

try bad src/base/a.c '"la/csr.h"'
try bad src/math/a.h '"geom/shape.h"'
try bad src/la/a.c '"world/world.h"'
try bad src/grid/a.c '"io/vtk.h"'
try bad src/fluid/mac/a.c '"solid/rigid.h"'
try bad src/fluid/sph/a.c '"solid/rigid.h"'
try bad src/solid/a.c '"fluid/mac/mac.h"'
try bad src/solid/a.c '"contact/barrier.h"'
try bad src/pressure/a.c '"couple/rmi.h"'
try bad src/world/a.c '"scene/lua.h"'
try bad src/world/a.c '"io/vtk.h"'
try bad src/scene/a.c '"io/vtk.h"'
try bad src/io/a.c '"scene/lua.h"'
try bad src/la/a.c '<mpi.h>'
try bad src/grid/a.c '<petscdmda.h>'
try bad src/base/a.c '"neighbour.h"'
try bad src/newfolder/a.c '"base/exec.h"'
try bad include/meniscus/a.h '"base/exec.h"'
try bad include/meniscus/a.h '<lua5.4/lua.h>'
try bad app/a.c '"world/world.h"'
try bad app/a.c '"nowhere.h"'
try good src/base/a.c '"base/b.h"'
try good src/couple/a.c '"fluid/mac/mac.h"'
try good src/couple/a.c '"solid/rigid.h"'
try good src/world/a.c '"couple/rmi.h"'
try good src/scene/a.c '"world/world.h"'
try good src/io/a.c '"world/world.h"'
try good src/par/a.c '<mpi.h>'
try good src/scene/a.c '<lua.h>'
try good src/la/a.c '"meniscus/box.h"'
try good include/meniscus/a.h '"meniscus/base.h"'
try good include/meniscus/a.h '<stdint.h>'
try good app/a.c '"meniscus/meniscus.h"'
try good app/a.c '"cli.h"'
echo "ok   negative controls"
