#!/bin/bash
# Six runs killed at random moments and resumed; long_kill.sh does twenty.
set -eu
. "$2/tests/repro/common.sh"
. "$2/tests/repro/kill.sh"
kills 6 100
exit $failed
