# kills N: N runs killed with SIGKILL at seeded random moments and resumed; the results must be those of
# a run that was left alone. Every fourth one is killed again while it resumes.
now() { date +%s.%N; }
random() { awk -v s="$1" 'BEGIN { srand(s); rand(); printf "%.4f", rand() }'; }
times() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.4f", a * b }'; }

# Runs a command and kills it after a while, but not before the directory is a run's.
kill_after() { # seconds, command...
  local delay=$1 pid
  shift
  "$@" --quiet 2>> "$work/log" &
  pid=$!
  while kill -0 "$pid" 2> /dev/null && [ ! -f "$work/killed/scene.lua" ]; do sleep 0.002; done
  sleep "$delay"
  kill -KILL "$pid" 2> /dev/null || true
  wait "$pid" 2> /dev/null || true
}

kills() { # how many, first seed
  local begin end length=1e9 i delay unfinished=0
  for i in 1 2 3; do # the shortest: on a busy machine others end before they are killed
    rm -rf "$work/whole"
    begin=$(now)
    "$program" run "$work/restart.lua" -o "$work/whole" --quiet
    end=$(now)
    length=$(awk -v a="$begin" -v b="$end" -v l="$length" 'BEGIN { print b - a < l ? b - a : l }')
  done
  for i in $(seq "$1"); do
    rm -rf "$work/killed"
    delay=$(times "$length" "$(random $(($2 + i)))")
    kill_after "$delay" "$program" run "$work/restart.lua" -o "$work/killed"
    [ "$(state_of "$work/killed")" = done ] || unfinished=$((unfinished + 1))
    if [ $((i % 4)) = 0 ]; then
      kill_after "$(times "$delay" 0.3)" "$program" resume "$work/killed"
    fi
    "$program" resume "$work/killed" --quiet --threads $((1 + i % 2)) || fail "kill $i: resume failed"
    same_runs "kill $i after $delay s of $length s" "$work/whole" "$work/killed"
  done
  # The test is worth something only if most runs were really cut short.
  [ $((2 * unfinished)) -ge "$1" ] || fail "only $unfinished of $1 runs were cut short"
  echo "$unfinished of $1 runs were cut short"
}
