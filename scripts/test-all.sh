#!/bin/sh
# Run the tests on every supported Python that is installed; each has its own environment.
# The linters run once, in `make test`; here it is the tests that count.
set -u
tested="" failed=""
for version in 3.11 3.12 3.13 3.14; do
    python=$(command -v "python$version") || continue
    "$python" -c "import sys; sys.exit('%d.%d' % sys.version_info[:2] != '$version')" 2>/dev/null || continue
    tested="$tested $version"
    "${MAKE:-make}" --no-print-directory VENV=".venv-$version" PYTHON="$python" test-only || failed="$failed $version"
done
echo "tested:${tested:- none}; failed:${failed:- none}"
[ -n "$tested" ] && [ -z "$failed" ]
