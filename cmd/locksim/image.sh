#!/bin/sh
# Writes the files of the image into a new folder: the program, the licences, and a folder for temporary files.
# Usage, in the top folder of the repository: sh cmd/locksim/image.sh DIR
set -eu
if [ $# -ne 1 ]; then
	echo 'usage: sh cmd/locksim/image.sh DIR' >&2
	exit 2
fi
mkdir -p "$1/tmp"
chmod 1777 "$1/tmp"
files=$(cd "$1" && pwd)
go -C internal/dev run ./release -targets "linux/$(go env GOARCH)" -files "$files"
