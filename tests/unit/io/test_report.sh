#!/bin/bash
# Parses the report of a sample run: balanced tags, well-formed SVG, nothing loaded from elsewhere.
set -eu
folder=$(mktemp -d /tmp/meniscus_report_XXXXXX)
trap 'rm -rf "$folder"' EXIT
"$3/tests/unit.io.test_report_page" "$folder"
/usr/bin/python3 "$(dirname "$0")/read_report.py" "$folder/report.html"
