package app

import (
	"fmt"
	"slices"
	"strings"

	"locksim/internal/prose"
	"locksim/lock/fence"
)

// parseModes reads "none,check,seal".
func parseModes(text string) ([]fence.Mode, error) {
	var modes []fence.Mode
	for _, name := range strings.Split(text, ",") {
		m, err := parseMode(strings.TrimSpace(name))
		if err != nil {
			return nil, fmt.Errorf("--fencing %s: %w", quote(text), err)
		}
		if slices.Contains(modes, m) {
			return nil, fmt.Errorf("--fencing %s: mode %s is there twice: name each mode once", quote(text), m)
		}
		modes = append(modes, m)
	}
	return modes, nil
}

func parseMode(name string) (fence.Mode, error) {
	m, err := fence.ParseMode(name)
	if err != nil {
		return "", fmt.Errorf("there is no fencing mode %q: %s", name, prose.Choose(name, modeNames()))
	}
	return m, nil
}

func modeNames() []string {
	var names []string
	for _, m := range fence.Modes() {
		names = append(names, string(m))
	}
	return names
}

func joinModes(modes []fence.Mode) string {
	var names []string
	for _, m := range modes {
		names = append(names, string(m))
	}
	return strings.Join(names, ",")
}
