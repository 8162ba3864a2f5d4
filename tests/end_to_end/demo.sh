#!/usr/bin/env bash
# The main job on the emulator, nothing canned: runs the fixture suite, triages what failed, shrinks the group_norm
# bug to a script, runs that script, and shows the issue. Change the suite and this output changes.
set -euo pipefail
cd "$(dirname "$0")/../.."
bin=$PWD/.venv/bin
export PATH=$bin:$PATH
work=build/demo
suite=fixtures/minisuite
rm -rf "$work"
mkdir -p "$work"

step() { printf '\n$ %s\n' "$*"; "$@"; }
field() { python -c "import json, sys; rows = json.load(sys.stdin); print($1)"; }

printf 'A real report of a diffusers run on torch_tpu, read without rerunning anything:\n'
step tputriage collect --no-rerun fixtures/reports/unet2d.tpu.json --store "$work/diffusers"

if ! ready=$(tputriage doctor --json | field 'rows["ready"]') || [ "$ready" != True ]; then
    printf '\nskipped: no TPU and no emulator on this platform (torch-tpu has wheels for Linux on x86-64 only);\n'
    printf 'the comparing, minimizing and verifying of the demo need one\n'
    exit 0
fi

printf '\nA small suite, run on the device now; some of its tests fail, one aborts, one hangs:\n'
report=$PWD/$work/minisuite.json
printf '\n$ cd %s\n$ tputriage run -m pytest -n 1 --timeout 30 --tb short --json-report\n' "$suite"
(cd "$suite" && tputriage run -m pytest -q -n 1 --timeout 30 --tb short -p no:cacheprovider \
    --json-report --json-report-file="$report" 2>/dev/null | tail -n 25) || true

printf '\nWhat fails where:\n'
step tputriage collect "$work/minisuite.json" --root "$suite" --limit 10 --store "$work/store"

bucket=$(tputriage show --json --store "$work/store" |
    field 'next((row["id"] for row in rows["buckets"] if row["verdict"] == "tpu-only" and "view()" in row["title"]), "")')
if [ -z "$bucket" ]; then
    printf '\nthe group_norm failures are not there: on a very busy machine the run of the suite can break off, or its\n' >&2
    printf 'tests run into their time limit; run it again when there is less to do\n' >&2
    exit 1
fi
printf '\nThe group_norm bucket, shrunk and verified in fresh processes:\n'
step tputriage minimize "$bucket" --root "$suite" --store "$work/store"

script=$work/store/repros/$bucket.py
printf '\nThe script as a maintainer would run it:\n'
printf '\n$ tputriage run %s tpu; echo "exit code $?"\n' "$script"
tputriage run "$script" tpu 2>&1 | tail -n 3 || true
code=0
tputriage run "$script" tpu 2>/dev/null || code=$?
printf 'exit code %s\n' "$code"
[ "$code" = 1 ]
step tputriage run --target cpu "$script" cpu
printf 'exit code 0\n'

printf '\nThe issue as it would be filed (evidence from an emulator alone is only filed when allowed):\n'
step tputriage file-issues --dry-run --allow-emulator --store "$work/store"
