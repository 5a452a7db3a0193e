#!/bin/bash
# Our pressure solver and other people's on the half-sphere system, alternately in one run, and the
# ratios beside the targets. usage: bench/peers/compare.sh [N]... (default 64 128), from anywhere.
# Needs Debian's libhypre-dev; petsc-dev is used if it is there.
set -e
source_dir=$(cd "$(dirname "$0")/../.." && pwd)
build=$source_dir/build/peers
cmake -S "$source_dir" -B "$build" -G Ninja -DMENISCUS_PEERS=ON -DMENISCUS_TESTS=OFF >/dev/null
cmake --build "$build" --target help | grep -q peer_hypre || { echo "libhypre-dev is missing" >&2; exit 3; }
cmake --build "$build" >/dev/null
export OMP_NUM_THREADS=1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
peers=$build/bench/peers
lines=$(mktemp)
trap 'rm -f "$lines"' EXIT
for n in "${@:-64 128}"; do
  for n in $n; do
    for round in 1 2 3; do
      "$peers/peer_meniscus" "$n" 9 >>"$lines"
      "$peers/peer_hypre" "$n" 3 >>"$lines"
      if [ -x "$peers/peer_petsc" ] && [ "$round" = 1 ] && [ "$n" -le 128 ]; then
        "$peers/peer_petsc" "$n" 1 >>"$lines"
      fi
    done
    GOMP_SPINCOUNT=100000 OMP_NUM_THREADS=2 "$peers/peer_meniscus" "$n" 9 2 | sed 's/"meniscus\([^"]*\)/"meniscus\1, 2 threads (wall)/' >>"$lines"
  done
done
python3 - "$lines" <<'PYTHON'
import json, sys
best = {}
for line in open(sys.argv[1]):
    r = json.loads(line)
    key = (r["n"], r["solver"])
    if key not in best or r["total_s"] < best[key]["total_s"]:
        best[key] = r
print(f"{'n':>4} {'solver':<36} {'iterations':>10} {'seconds':>9} {'residual':>9} {'times ours':>10}")
for (n, solver), r in sorted(best.items()):
    ours = best[(n, "meniscus mgpcg")]["total_s"]
    print(f"{n:>4} {solver:<36} {r['iterations']:>10} {r['total_s']:>9.4f} {r['residual']:>9.2g} {r['total_s']/ours:>10.2f}")
    if "policy" in solver:
        fast = best[(n, "meniscus LCP fast")]["total_s"]
        print(f"     policy iteration with PCG+PFMG over our LCP solve: {r['total_s']/fast:.1f} (target at 128: 10, goal 25)")
print("target at n = 128: hypre PCG+PFMG >= 5 times ours (goal 10); 2 threads <= 1/1.6 = .62")
PYTHON
