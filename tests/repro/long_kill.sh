#!/bin/bash
# Twenty runs killed at random moments and resumed.
set -eu
. "$2/tests/repro/common.sh"
. "$2/tests/repro/kill.sh"
kills 20 200
exit $failed
