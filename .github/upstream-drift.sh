#!/usr/bin/env bash
# Compares the catalog with HyperDbg's newest release and its development branch.
# Usage: upstream-drift.sh REPOSITORY REPORT     (REPOSITORY: URL or path; REPORT: the markdown file to write)
# Says `drift=yes` or `drift=no` in $GITHUB_OUTPUT. Fails when a comparison is not possible, not when something differs.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
repository=$1
report=$2
output=${GITHUB_OUTPUT:-/dev/stdout}
# An issue's body holds 65536 characters.
limit=60000

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
git clone --quiet --filter=blob:none --no-checkout "$repository" "$work/hyperdbg"
git -C "$work/hyperdbg" sparse-checkout set hyperdbg/include/SDK hyperdbg/libhyperdbg hyperdbg/script-engine
newest=$(git -C "$work/hyperdbg" tag --list 'v*' --sort=-version:refname | head -n 1)

drift=no
: > "$report"
for reference in "$newest" origin/dev; do
    git -C "$work/hyperdbg" checkout --quiet --detach "$reference"
    commit=$(git -C "$work/hyperdbg" rev-parse --short HEAD)
    printf '# %s (%s)\n\n' "$reference" "$commit" >> "$report"
    status=0
    cargo codegen diff --format markdown --fail-on decision \
        --sdk "$work/hyperdbg/hyperdbg/include/SDK" --source "$work/hyperdbg" >> "$report" || status=$?
    case $status in
        0) ;;
        1) drift=yes ;;
        *) exit "$status" ;;
    esac
    printf '\n' >> "$report"
done
if [ "$(wc -c < "$report")" -gt "$limit" ]; then
    head -c "$limit" "$report" > "$report.cut"
    printf '\n\nThe report is longer: run `cargo codegen diff` for all of it.\n' >> "$report.cut"
    mv "$report.cut" "$report"
fi
printf '\nWhat to do: run `cargo codegen sync --sdk DIR` and follow CONTRIBUTING.md.\n' >> "$report"
printf 'drift=%s\n' "$drift" >> "$output"
