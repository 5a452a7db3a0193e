#!/bin/bash
# coupling = "auto" over all built-in scenes that couple: what docs/coupling.md says it picks, and two frames without a try that failed.
set -eu
program=$1
source=$2
export OMP_WAIT_POLICY=passive
work=$(mktemp -d /tmp/mn_auto_XXXXXX)
trap 'rm -rf "$work"' EXIT
failed=0
cd "$work"
rows=0
while IFS='|' read -r _ scene method _; do
  scene=$(echo "$scene" | tr -d ' \140') method=$(echo "$method" | tr -d ' \140')
  rows=$((rows + 1))
  if "$program" run "$scene" -p coupling=auto --frames 2 --quiet -o "$scene" > out 2>&1 &&
     python3 - "$scene" "$method" <<'PY'
import json, sys
j = json.load(open(sys.argv[1] + "/run.json"))
c = j["coupling"]
ok = c["method"] == sys.argv[2] and c["capped"] == c["diverged"] == 0 and j["totals"]["retries"] == 0
print("ok   " if ok else "FAIL ", sys.argv[1], c["method"], "instead of" if c["method"] != sys.argv[2] else "as", sys.argv[2],
      "retries", j["totals"]["retries"])
sys.exit(not ok)
PY
  then :; else echo "FAIL  $scene: $(tail -c 300 out)" && failed=1; fi
done < <(sed -n '/^| scene | `auto` picks/,/^$/p' "$source/docs/coupling.md" | tail -n +3 | grep '|')
# every scene that can be coupled is in the table
for scene in $("$program" list | awk '{print $1}'); do
  if "$program" show "$scene" | grep -q '^--   coupling  '; then
    grep -q "^| \`$scene\` |" "$source/docs/coupling.md" || { echo "FAIL  no row of $scene" && failed=1; }
  fi
done
[ $rows -ge 20 ] || { echo "FAIL  only $rows rows" && failed=1; }
exit $failed
