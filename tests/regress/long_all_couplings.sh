#!/bin/bash
# Every built-in scene with a fluid and bodies under every way to couple them, for some substeps on a coarse grid: all come
# to their end, and none has anything to warn of, but that a wall is thin on a grid coarser than the scene's own.
set -eu
program=$1
export OMP_WAIT_POLICY=passive
work=$(mktemp -d /tmp/mn_all_XXXXXX)
trap 'rm -rf "$work"' EXIT
cd "$work"
"$program" list --json > list.json
python3 - "$program" <<'PY'
import json, re, subprocess, sys
program, failed, count = sys.argv[1], 0, 0
for line in open("list.json"):
    scene = json.loads(line)
    texts = {p["name"]: p["text"] for p in scene["parameters"]}
    if "coupling" not in texts:
        continue
    multiple = int((re.search(r"a multiple of (\d+)", texts["n"]) or [0, 1])[1])
    least = max(16, int((re.search(r"at least (\d+)", texts["n"]) or [0, 0])[1]))
    n = multiple * -(-least // multiple)
    for coupling in ("xpm", "monolithic", "simultaneous", "auto", "relaxed", "aitken", "rmi"):
        count += 1
        run = subprocess.run([program, "run", scene["name"], "-p", f"n={n}", "-p", f"coupling={coupling}", "--until", "0.02",
                              "-o", "run", "--quiet"], capture_output=True, text=True)
        words = [w for w in run.stderr.splitlines() if not re.search('coupling "auto" picks|too thin for the grid|^meniscus: body ".*(triangles|tetrahedra)', w)]
        if run.returncode or words:
            failed = 1
            print("FAIL ", scene["name"], f"n={n}", coupling, "exit", run.returncode, *words)
print("ok    " if not failed else "FAIL  ", count, "runs")
raise SystemExit(failed or count < 22 * 7)
PY
