package faults

import (
	"fmt"
	"slices"
	"strings"
)

// orFirst is the choice that was made, or the default, which stands first.
func orFirst[T ~string](made T, choices []T) T {
	if made == "" {
		return choices[0]
	}
	return made
}

// oneOf returns a *FieldError when the choice is neither empty nor listed.
func oneOf[T ~string](field string, made T, choices []T) error {
	if made == "" || slices.Contains(choices, made) {
		return nil
	}
	names := make([]string, len(choices))
	for i, c := range choices {
		names[i] = string(c)
	}
	return wrong(field, "%q is not known: choose %s", string(made), orList(names))
}

// orList is "a, b or c". It needs two names at least.
func orList(names []string) string {
	last := len(names) - 1
	return fmt.Sprintf("%s or %s", strings.Join(names[:last], ", "), names[last])
}
