#!/usr/bin/env bash
# Compares the catalog with HyperDbg's newest release and its development branch.
# Usage: upstream-drift.sh REPOSITORY REPORT     (REPOSITORY: URL or path; REPORT: the markdown file to write)
# Says `drift=yes` or `drift=no` in $GITHUB_OUTPUT. Fails when HyperDbg cannot be fetched, not when something differs;
# headers that cannot be read are a difference that someone must know of.
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
# What has a suffix, such as v0.20-beta, comes before the release.
newest=$(git -C "$work/hyperdbg" -c versionsort.suffix=- tag --list 'v*' --sort=-version:refname | sed -n 1p)

drift=no
: > "$report"
for reference in "$newest" origin/dev; do
    git -C "$work/hyperdbg" checkout --quiet --detach "$reference"
    commit=$(git -C "$work/hyperdbg" rev-parse --short HEAD)
    printf '# %s (%s)\n\n' "$reference" "$commit" >> "$report"
    status=0
    cargo codegen diff --format markdown --fail-on decision \
        --sdk "$work/hyperdbg/hyperdbg/include/SDK" --source "$work/hyperdbg" \
        >> "$report" 2> "$work/findings" || status=$?
    cat "$work/findings" >&2
    case $status in
        0) ;;
        1) drift=yes ;;
        2)
            drift=yes
            {
                printf 'The comparison is not possible:\n\n```text\n'
                cat "$work/findings"
                printf '```\n'
            } >> "$report"
            ;;
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
