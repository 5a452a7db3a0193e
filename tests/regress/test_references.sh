#!/bin/bash
# Every source cited in the code as [Name year] is listed in docs/references.md.
set -eu
source_dir=$2

# "Name year" of each, one per line: the first author of every part between semicolons.
citations() { # folders
  grep -rhoE '\[(van )?[A-Z][a-z]+[^]]* (19|20)[0-9]{2}[^]]*\]' "$@" --include='*.[ch]' --include='*.lua' |
    tr -d '[]' | tr ';' '\n' |
    sed -nE 's/^ *((van )?[A-Z][a-z]+(-[A-Z][a-z]+)?)[^0-9]* ((19|20)[0-9]{2}).*/\1 \4/p' | sort -u
}
missing() {
  citations "$@" | while read -r name; do
    grep -qF "**[$name]**" "$source_dir/docs/references.md" || echo "$name"
  done
}

found=$(missing "$source_dir/src" "$source_dir/scenes")
if [ -n "$found" ]; then
  echo "FAIL not in docs/references.md:"
  echo "$found"
  exit 1
fi
echo "ok   $(citations "$source_dir/src" "$source_dir/scenes" | wc -l) sources are listed"

work=$(mktemp -d /tmp/meniscus-references.XXXXXX) # negative control
trap 'rm -rf "$work"' EXIT
echo '/* as in [Nobody et al. 1999, eq. 3] and [Saad 2003, p. 2; Bridson 2015] */' >"$work/a.c"
[ "$(missing "$work")" = "Nobody 1999" ] || { echo "FAIL negative control"; exit 1; }
