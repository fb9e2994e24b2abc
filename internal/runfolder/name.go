package runfolder

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"
)

// Default is where commands keep their folders: below the current one.
const Default = "reports/out"

// longest bounds a part of a name, in bytes.
const maxPart = 64

var plainName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9-]*$`)

// Name is the name of a folder for what its parts say, such as
// run-gc-pause-fenced-s1. It is the same for the same parts, safe as a name on
// every system, whatever a part has in it, and never that of a hidden folder. A
// part that does not read well has a hash of it added, so that two of them do not
// meet.
func Name(parts ...string) string {
	safe := make([]string, len(parts))
	for i, part := range parts {
		safe[i] = safePart(part)
	}
	return strings.Join(safe, "-")
}

// safePart is one part: plain as it is, a specimen such as broken/get-then-del
// with a point for its slash, and everything else with a hash.
func safePart(part string) string {
	if before, after, ok := strings.Cut(part, "/"); ok && plainName.MatchString(before) && plainName.MatchString(after) && len(part) <= maxPart {
		return before + "." + after
	}
	if plainName.MatchString(part) && len(part) <= maxPart {
		return part
	}
	sum := sha256.Sum256([]byte(part))
	return strings.Trim(readable(part), "-") + "_" + hex.EncodeToString(sum[:4])
}

// readable is as much of a text as may stand in a name.
func readable(part string) string {
	kept := strings.Map(func(r rune) rune {
		if r < 128 && plainName.MatchString(string(r)) {
			return r
		}
		return '-'
	}, part)
	return kept[:min(len(kept), 40)]
}
