package runfolder

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"
)

// Default is the folder in which commands make their folders, relative to the current
// one.
const Default = "reports/out"

// maxPart bounds a part of a name, in bytes.
const maxPart = 64

var plainName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9-]*$`)

// Name is the name of a folder made of parts, such as run-gc-pause-fenced-s1. The
// same parts give the same name. For all parts, it is a valid name on every system,
// and not that of a hidden folder. A part that cannot be written as it is has a hash
// added, so that two such parts do not give the same name.
func Name(parts ...string) string {
	safe := make([]string, len(parts))
	for i, part := range parts {
		safe[i] = safePart(part)
	}
	return strings.Join(safe, "-")
}

// safePart is one part: a plain one as it is, a specimen such as broken/get-then-del
// with a dot in place of the slash, and everything else with a hash.
func safePart(part string) string {
	if before, after, ok := strings.Cut(part, "/"); ok && plainName.MatchString(before) && plainName.MatchString(after) &&
		len(part) <= maxPart {
		return before + "." + after
	}
	if plainName.MatchString(part) && len(part) <= maxPart {
		return part
	}
	sum := sha256.Sum256([]byte(part))
	return strings.Trim(readable(part), "-") + "_" + hex.EncodeToString(sum[:4])
}

// readable is the beginning of a text, with a hyphen for each character that a name
// cannot have.
func readable(part string) string {
	kept := strings.Map(func(r rune) rune {
		if r < 128 && plainName.MatchString(string(r)) {
			return r
		}
		return '-'
	}, part)
	return kept[:min(len(kept), 40)]
}
