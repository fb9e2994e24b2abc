#!/usr/bin/env bash
# Runs the locksim tests of some packages for a CI job. It keeps the failures, with their pages, and writes a summary.
#
#	bash test.sh ./locksimtest          # in the folder of go.mod
#
# LOCKSIM_OUT      the failures go into this folder (default: locksim-results)
# LOCKSIM_FAIL_ON  any: every failure fails the job (default). new: a failure of a lock that breaks as one of those that
#                  are stored in testdata/locksim is only shown; the tests are run once more without these, to look on
# LOCKSIM_OVERLAY  true: build the tests with the overlay; go.mod has the command locksim as a tool
# LOCKSIM_FLAGS    more flags for go test, separated by spaces
#
# GITHUB_STEP_SUMMARY and GITHUB_OUTPUT name files to append to, as in a step of a workflow. The exit code is 0 if the job
# passes, 1 if it fails, and 2 for wrong usage.
set -euo pipefail

usage() { printf 'locksim: %s\n' "$*" >&2; exit 2; }

[ $# -gt 0 ] || set -- ./locksimtest
out=${LOCKSIM_OUT:-locksim-results}
fail_on=${LOCKSIM_FAIL_ON:-any}
case $fail_on in any | new) ;; *) usage "LOCKSIM_FAIL_ON is '$fail_on': set it to any or new" ;; esac
case ${LOCKSIM_OVERLAY:-false} in true | false) ;; *) usage "LOCKSIM_OVERLAY is '$LOCKSIM_OVERLAY': set it to true or false" ;; esac
command -v go >/dev/null || usage "there is no go in PATH: install Go first, as with actions/setup-go"
mkdir -p "$out"
out=$(cd "$out" && pwd)

flags=(-count=1 -v)
for flag in ${LOCKSIM_FLAGS:-}; do flags+=("$flag"); done
if [ "${LOCKSIM_OVERLAY:-false}" = true ]; then
	# A Go that was fetched for the toolchain line of go.mod is in the module cache, and takes no overlay there.
	goroot=$(go tool locksim overlay --copy-go)
	export PATH="$goroot/bin:$PATH"
	flags+=("$(go tool locksim overlay)")
fi

# The folders of the packages, one on a line.
folders=$(go list -f '{{.Dir}}' "$@")

# stored lists the failures that are stored, but for those that are fixed.
stored() {
	printf '%s\n' "$folders" | while IFS= read -r dir; do
		for file in "$dir"/testdata/locksim/*.json; do [ ! -e "$file" ] || printf '%s\n' "$file"; done
	done
}

# shape is what a failure is, by the name of its file: the lock, the violation and the faults.
shape() { basename "$1" .json | sed -E 's/-[0-9a-f]{8}$//'; }

# shapes are those of the files on standard input.
shapes() { while IFS= read -r file; do [ -z "$file" ] || shape "$file"; done | sort -u; }

# without lists the lines of standard input that are not among those of $1.
without() { grep -vxF -e "$1" || true; }

count() { grep -c . || true; }

# play runs the tests, with their output in a file too. Its exit code is that of go test.
play() {
	local log=$1
	shift
	set +e
	go test "${flags[@]}" "$@" 2>&1 | tee "$log"
	local code=${PIPESTATUS[0]}
	set -e
	return "$code"
}

# keep copies what is stored of a failure to the artifacts, once.
keep() {
	local from=${1%.json} to
	to=$out/$(basename "$(dirname "$(dirname "$(dirname "$from")")")")
	mkdir -p "$to"
	for file in "$from".json "$from".html "$from".md; do [ ! -e "$file" ] || cp "$file" "$to/"; done
}

# unexplained lists the tests that have failed in a log, and of which none of the failures on standard input tells.
unexplained() {
	local log=$1 files name explained
	files=$(cat)
	sed -nE 's/^--- FAIL: ([^ ]+) .*/\1/p' "$log" | sort -u | while IFS= read -r name; do
		explained=false
		while IFS= read -r file; do
			if [ -n "$file" ] && grep -qE "^ *\"test\": \"$name(/|\")" "$file"; then explained=true; fi
		done <<<"$files"
		[ "$explained" = true ] || printf '%s\n' "$name"
	done
}

known=$(stored)
code=0
play "$out/test.log" "$@" || code=$?
found=$(stored)
new=$(printf '%s\n' "$found" | without "$known")
if grep -q '^--- FAIL' "$out/test.log"; then
	printf '%s\n' "$found" | while IFS= read -r file; do [ -z "$file" ] || keep "$file"; done
fi

# With LOCKSIM_FAIL_ON=new the stored failures are set aside, and the tests look on.
verdict=$code
if [ "$code" != 0 ] && [ "$fail_on" = new ] && [ -n "$known" ]; then
	aside=$(mktemp -d)
	restore() {
		printf '%s\n' "$known" | cat -n | while IFS=$'\t' read -r n file; do
			n=${n// /}
			[ ! -e "$aside/$n" ] || mv "$aside/$n" "$file"
		done
		rm -rf "$aside"
	}
	trap restore EXIT
	printf '%s\n' "$known" | cat -n | while IFS=$'\t' read -r n file; do
		n=${n// /}
		[ ! -e "$file" ] || mv "$file" "$aside/$n"
	done
	again=0
	play "$out/test-without-stored.log" "$@" || again=$?
	more=$(stored)
	printf '%s\n' "$more" | while IFS= read -r file; do [ -z "$file" ] || keep "$file"; done
	known_shapes=$(printf '%s\n' "$known" | shapes)
	news=$(printf '%s\n%s\n' "$new" "$more" | shapes | without "$known_shapes")
	new=$(printf '%s\n%s\n' "$new" "$more" | sort -u | while IFS= read -r file; do
		if [ -n "$file" ] && printf '%s\n' "$news" | grep -qxF -e "$(shape "$file")"; then printf '%s\n' "$file"; fi
	done)
	verdict=0
	[ -z "$news" ] || verdict=1
	if [ "$again" != 0 ] && { [ -n "$(printf '%s\n' "$more" | unexplained "$out/test-without-stored.log")" ] || [ -z "$more" ]; }; then
		verdict=1
	fi
fi
[ "$verdict" = 0 ] || verdict=1

# summary writes the summary.
summary() {
	local n
	if [ "$code" = 0 ]; then
		printf '## locksim: no violation\n\n'
		sed -nE 's/^ *[^ ]*_test\.go:[0-9]+: (.*: no violation in .*)/- \1/p' "$out/test.log" | cut -c1-400
		return
	fi
	n=$(find "$out" -mindepth 2 -name '*.json' | count)
	if [ "$verdict" = 0 ]; then
		printf '## locksim: %s known, nothing new\n\nThe job passes, since it fails on what is new only.\n\n' "$n"
	elif [ "$n" = 0 ]; then
		printf '## locksim: the tests fail\n\n```text\n'
		tail -n 60 "$out/test.log" | cut -c1-300
		printf '```\n'
		return
	else
		printf '## locksim: %s\n\n' "$(plural "$n" failure)"
	fi
	printf 'The artifact has each with its page. To keep one as a test, commit its `.json` in `testdata/locksim`: every later run tries it first.\n\n'
	find "$out" -mindepth 2 -name '*.md' | LC_ALL=C sort | while IFS= read -r file; do
		size=$((size + $(wc -c <"$file")))
		if [ "$size" -gt 900000 ]; then # a summary has at most 1 MiB
			printf 'The page of %s is in the artifact.\n\n' "$(basename "$file" .md)"
			continue
		fi
		printf '<details%s><summary>%s</summary>\n\n' "$open" "$(basename "$file" .md)"
		cat "$file"
		printf '\n</details>\n\n'
		open=
	done
	find "$out" -mindepth 2 -name '*.json' | LC_ALL=C sort | while IFS= read -r file; do
		[ -e "${file%.json}.md" ] || printf -- '- `%s` has no Markdown: set `Markdown` in the options of the test\n' "$(basename "$file")"
	done
}
plural() { if [ "$1" = 1 ]; then printf '%s %s' "$1" "$2"; else printf '%s %ss' "$1" "$2"; fi; }
open=' open' size=0

summary >"$out/summary.md"
if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then cat "$out/summary.md" >>"$GITHUB_STEP_SUMMARY"; fi
if [ -n "${GITHUB_OUTPUT:-}" ]; then
	{
		printf 'folder=%s\n' "$out"
		printf 'failures=%s\n' "$(find "$out" -mindepth 2 -name '*.json' | count)"
		printf 'new=%s\n' "$(printf '%s\n' "$new" | count)"
	} >>"$GITHUB_OUTPUT"
fi
if [ "$code" != 0 ] && [ "$verdict" = 0 ] && [ -n "${GITHUB_ACTIONS:-}" ]; then
	printf '::warning title=locksim::known failures, and nothing new: see the summary\n'
fi
exit "$verdict"
