package app

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// fileName is a name that a file can have on any system, made of the name of a
// lock: its slashes become hyphens. Where more has to be left out, it ends with a
// hash of the name, so that such names differ where the locks do.
func fileName(name string) string {
	plain := strings.ReplaceAll(name, "/", "-")
	safe := strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || '0' <= r && r <= '9' || strings.ContainsRune("-_.", r) {
			return r
		}
		return '-'
	}, plain)
	if safe = strings.TrimLeft(safe, "."); safe == plain && len(safe) <= longestName {
		return safe
	}
	sum := sha256.Sum256([]byte(name))
	return safe[:min(len(safe), longestName)] + "-" + hex.EncodeToString(sum[:4])
}

// longestName is how much of a name a file keeps.
const longestName = 60
