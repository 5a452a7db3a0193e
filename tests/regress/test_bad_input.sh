#!/bin/bash
# Every mistake a user can make, through the program itself: its exit status and the words of its message.
set -eu
program=$1
export OMP_WAIT_POLICY=passive # idle threads sleep: the machine may be busy
work=$(mktemp -d /tmp/mn_input_XXXXXX)
mounted=
trap '[ -z "$mounted" ] || umount "$mounted"; rm -rf "$work"' EXIT
failed=0
cd "$work"

# expect STATUS WORDS COMMAND...: WORDS is an extended regular expression that stderr must match.
expect() {
  local status=0 wanted=$1 words=$2
  shift 2
  "$@" > out 2> err || status=$?
  if [ $status = "$wanted" ] && { [ -z "$words" ] || grep -Eq -- "$words" err; }; then
    echo "ok    $wanted  $(head -c 250 err | tr '\n' ' ')"
  else
    echo "FAIL  $*: exit $status instead of $wanted, or no \"$words\" in: $(cat err)"
    failed=1
  fi
}
scene() { cat > scene.lua && : ; } # a scene from stdin
check() { expect "$1" "$2" "$program" check scene.lua; }
body() { # a scene with these keys in its box and its smoke; pictures, VTK files
  echo "return scene { domain = box { $1 }, fluid = smoke { ${2-} }, output = { frames = 1, preview = ${3-false}, vtk = ${4-true} } }" | scene
}

# The control: a good scene passes all of it.
body 'size = {1, 1}, cells = {16, 16}'
expect 0 '' "$program" check scene.lua
expect 0 '' "$program" run scene.lua -o good --quiet

# the command line
expect 2 'unknown command "rnu"; did you mean run' "$program" rnu plume
expect 2 'unknown option --fremes; did you mean --frames' "$program" run plume --fremes 3
expect 2 'run needs a scene' "$program" run
expect 2 'sources\[1\].speed = 1e.300: must not be faster than light' "$program" check nested-balloons -p u_max=1e300
expect 0 '' "$program" check smoke-balloon -p release=0.3
expect 2 'parameter release: found "-1", allowed: at least 0' "$program" check smoke-balloon -p release=-1
expect 2 '--frames is "x"' "$program" run plume --frames x
expect 2 '--frames needs N' "$program" run plume --frames
expect 2 '--until is "nan"' "$program" run plume --until nan
expect 2 '--threads is "0"' "$program" run plume --threads 0
expect 2 '-p needs NAME=VALUE' "$program" run plume -p n
expect 2 'one word too many' "$program" run plume other
expect 2 '--solver is "gmres": must be one of mgpcg, pcg' "$program" pressure --solver gmres
expect 2 'no bench "presure"; did you mean pressure' "$program" bench presure
expect 2 '--size: found 48, allowed: 32, 64, 128 or 256' "$program" bench lai-6.1 --size 48
expect 2 'holds no run of meniscus' "$program" resume .

# scenes
expect 2 'plme.*(plume|built-in)' "$program" run plme
expect 2 'nowhere.lua' "$program" run nowhere.lua
expect 2 'm.*parameter|parameter.*m' "$program" run plume -p m=3
expect 2 '"many"' "$program" run plume -p n=many
expect 2 'parameter n: found "16", allowed: a multiple of 80' "$program" run two-balloons -p n=16 # 0.75 of 0.67 m^2/s would flow in
expect 2 'parameter n: found "4", allowed: a multiple of 10' "$program" run hydraulic-piston -p n=4 # nothing would be closed
expect 2 'parameter n: found "16", allowed: at least 32' "$program" run nested-balloons -p n=16
expect 2 'parameter n: found "120", allowed: a multiple of 120, at least 240' "$program" run instability -p n=120 # arcs as thin as a cell
expect 2 'parameter reading: found "moduls", allowed: modulus, spring' "$program" run two-balloons -p reading=moduls
echo 'return scene { domain = box {' | scene && check 2 'scene.lua.*(expected|unexpected)'
echo 'while true do end' | scene && check 2 '(instruction|endless|limit)'
echo 'local t = {} while true do t[#t + 1] = {} end' | scene && check 2 '(memory|instructions)'
echo 'os.execute("true")' | scene && check 2 'os'
body 'size = {1, 1}, cells = {16, 16}, celsl = 3' && check 2 'celsl.*cells'
body 'size = {1, 1}, cells = {16, 16}' 'densty = 3' && check 2 'densty.*density'
body 'size = {1, 1}, cells = "many"' && check 2 'cells'
body 'size = {1, 1}, cells = {16, 16}' 'density = "heavy"' && check 2 'density.*heavy'
body 'size = {0/0, 1}, cells = {16, 16}' && check 2 'size.*nan'
body 'size = {0, 1}, cells = {16, 16}' && check 2 'size.*0'
body 'size = {1, -1}, cells = {16, 16}' && check 2 'size.*-1'
body 'size = {1, 1}, cells = {0, 0}' && check 2 'cells.*0'
body 'size = {1, 1}, cells = {16, -16}' && check 2 'cells.*-16'
body 'size = {1, 1}, cells = {16, 17}' && check 2 'cells.*cubic|cubic'
body 'size = {1, 1}, cells = {16, 16}' 'density = 0' && check 2 'density.*0'
body 'size = {1, 1}, cells = {16, 16}' 'density = 1e-310' && check 2 'density.*from 1e-30 to 1e30'
body 'size = {1, 1}, cells = {16, 16}' 'density = 1e300' && check 2 'density.*from 1e-30 to 1e30'
body 'size = {1, 1, 1}, cells = {100000, 100000, 100000}' && check 2 'GB of memory.*available'

# mesh files
mesh() {
  echo "return scene { domain = box { size = {1, 1, 1}, cells = {8, 8, 8} }, fluid = smoke {},
    solids = { obstacle { name = 'm', shape = mesh { file = '$1' } } } }" | scene
}
mesh none.obj && check 2 'none.obj'
printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 99\n' > bad.obj
mesh bad.obj && check 2 'bad.obj.*99'

# the output directory
body 'size = {1, 1}, cells = {64, 64}'
echo text > file
expect 3 'file.*(not a folder|Not a directory)' "$program" run scene.lua -o file
expect 3 'file/run' "$program" run scene.lua -o file/run
mkdir -p foreign && echo mine > foreign/thesis.txt
expect 2 'not empty.*thesis.txt' "$program" run scene.lua -o foreign
[ "$(ls foreign)" = thesis.txt ] || { echo "FAIL  a foreign directory was touched" && failed=1; }

# whole DIR: nothing half-written under a final name, nothing left of what was being written
whole() {
  local f
  while read -r f; do
    case $f in
      *.part) echo "FAIL  $f is left" && failed=1 ;;
      *.vti | *.vtp | *.pvd) tail -c 20 "$f" | grep -q '</VTKFile>' || { echo "FAIL  $f is cut" && failed=1; } ;;
      *.json) [ "$(tail -c 2 "$f")" = '}' ] || { echo "FAIL  $f is cut" && failed=1; } ;;
      *.png) tail -c 8 "$f" | grep -q IEND || { echo "FAIL  $f is cut" && failed=1; } ;;
      *.csv) [ -z "$(tail -c 1 "$f" | tr -d '\n')" ] || { echo "FAIL  $f ends in half a row" && failed=1; } ;;
    esac
  done < <(find "$1" -name '*.part' -o -type f)
}
limited() { (ulimit -f "$1" && shift && "$@"); } # no file beyond so many KiB: like a full disk

expect 3 'cannot write full/' limited 8 "$program" run scene.lua -o full --quiet
whole full
body 'size = {1, 1}, cells = {64, 64}' '' true false
expect 3 'cannot write full/preview/' limited 4 "$program" run scene.lua -o full --quiet
whole full
body 'size = {1, 1}, cells = {64, 64}'
"$program" run scene.lua -o later --quiet
before=$(find later -type f ! -name run.json -exec cksum {} + | sort)
expect 3 'cannot write later/' limited 8 "$program" resume later --frames 5 --quiet
whole later
echo "$before" > before.txt
find later -type f ! -name run.json -exec cksum {} + | sort > after.txt
missing=$(grep -vFf after.txt before.txt | grep -v 'steps.csv\|probes.csv\|frames.pvd\|report.html' || true)
[ -z "$missing" ] || { echo "FAIL  earlier files changed: $missing" && failed=1; }
expect 0 '' "$program" resume later --frames 5 --quiet # with space again, it goes on

# A disk that is really full, where a small one can be made.
mkdir small
if mount -t tmpfs -o size=200k tmpfs small 2> /dev/null; then
  mounted=$work/small
  expect 3 'cannot (write|make|sync).*small/run' "$program" run scene.lua -o small/run --quiet --frames 50
  whole small
fi
# water that is not there, or has nowhere to go
water() { # keys of the water, other keys of the scene
  echo "return scene { domain = box { size = {1, 1}, cells = {16, 16} }, fluid = water { $1 }, ${2-} output = { frames = 1, vtk = false, preview = false } }" | scene
}
ball='solids = { obstacle { shape = disk { center = {0.5, 0.5}, radius = 0.4 } } },'
inside='initial_water = disk { center = {0.5, 0.5}, radius = 0.2 }'
full='initial_water = box { lo = {-1, -1}, hi = {2, 2} }'
for how in 'transfer = "apic"' 'transfer = "marker"' 'transfer = "levelset", walls = "sticking"'; do
  water "$how, initial_water = box { lo = {3, 3}, hi = {4, 4} }" && check 2 'initial_water holds no water'
  water "$how, $inside" "$ball" && check 2 'initial_water holds no water: .*inside solids'
  water "$how, $full" && check 2 'enclosed.*open a side.*fluid.enclosed = true'
  water "$how, $full, enclosed = true" && check 0 ''
done
dry='initial_water = box { lo = {3, 3}, hi = {4, 4} }'
jet='sources = { inflow { shape = box { lo = {0.2, 0.2}, hi = {0.4, 0.4} }, velocity = {0, 1} } },'
water "$dry" "$jet" && check 0 ''
water "$dry, transfer = \"levelset\", walls = \"sticking\"" "$jet" && check 2 'holds no water: .*levelset" an inflow needs water'
water "$full, walls = \"sticking\"" && check 2 'enclosed'
water "$inside, transfer = \"levelset\"" && check 2 'levelset.*separating.*sticking'
water "$inside" 'sources = { emitter { shape = disk { center = {0.5, 0.5}, radius = 0.1 } } },' && check 2 'emitter of smoke'

water "$inside, walls = \"separate\"" && check 2 'walls.*separating'
water "$inside, lcp_solver = \"fass\"" && check 2 'lcp_solver.*fas'
water "$inside, divergence_tolerance = -1" && check 2 'divergence_tolerance'
# a drop of two cells falls and spreads: a level set cannot carry it, and says so
drop='transfer = "levelset", walls = "sticking", initial_water = disk { center = {0.5, 0.8}, radius = 0.06 }'
echo "return scene { domain = box { size = {1, 1}, cells = {16, 16} }, fluid = water { $drop }, output = { frames = 10, every = 0.05, vtk = false, preview = false } }" | scene
expect 0 'levelset": at .* has lost .* of the water' "$program" run scene.lua -o drop --quiet
column='initial_water = box { lo = {-1, -1}, hi = {0.4, 0.9} }'
water "$column, pressure_max_iterations = 1" && expect 1 'lcp_solver = "fast" did not converge.*try "pi-pcg"' "$program" run scene.lua -o unsolved --quiet
water "$column, pressure_max_iterations = 1, lcp_solver = \"pgs\"" && expect 1 '"pgs" did not converge.*try "fast"' "$program" run scene.lua -o unsolved2 --quiet
expect 1 'sticking" it cannot let go.*separating' "$program" run lid -p walls=sticking -o stuck --quiet


# nothing is enclosed, although all else is to be left empty: told before anything runs
ring() {
  echo "return scene { domain = box { size = {1, 1}, cells = {16, 16}, top = \"open\" },
    fluid = smoke { density = 1, gravity = {0, 0}, outside = \"empty\" }, dynamics = dynamics { gravity = {0, 0} }, coupling = couple { method = \"$1\" },
    solids = { springs { shape = disk { center = {0.5, 0.5}, radius = 0.25 }, spacing = 0.06, density = 1, stretch = 100, $2 } }, output = { frames = 1, every = 0.01 } }" | scene
}
for method in xpm monolithic auto weak; do
  ring $method 'cut = box { lo = {0.4, 0.6}, hi = {0.6, 1} }'
  expect 2 'bodies enclose no fluid' "$program" check scene.lua
  expect 2 'bodies enclose no fluid' "$program" run scene.lua -o hollow
  [ ! -e hollow/run.json ] || { echo "FAIL  bad input left a run" && failed=1; }
  ring $method '' && expect 0 '' "$program" run scene.lua -o whole --quiet # the control
done

exit $failed
