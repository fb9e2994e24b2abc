package app

import (
	"regexp"
	"strings"
)

var harmless = regexp.MustCompile(`^[A-Za-z0-9_./:=@%+,-]+$`)

// quote quotes an argument for a shell, where that is necessary.
func quote(arg string) string {
	if harmless.MatchString(arg) {
		return arg
	}
	return "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
}
