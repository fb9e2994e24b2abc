package file

import (
	"fmt"
	"strings"

	"locksim/faults"
)

func formatTrigger(f faults.Fault) string {
	trigger := fmt.Sprintf("at: %v", f.At)
	if f.When != nil {
		trigger = fmt.Sprintf("when: {client: %s, event: %s, nth: %d}", f.When.Client, scalar(f.When.Name), f.When.Nth)
	}
	for _, more := range []struct{ key, value string }{
		{"after", unlessZero(f.After)}, {"every", unlessZero(f.Every)}, {"times", unlessZero(f.Times)},
		{"probability", unlessZero(f.Probability)},
	} {
		if more.value != "" {
			trigger += fmt.Sprintf("\n    %s: %s", more.key, more.value)
		}
	}
	return trigger
}

// formatAction is an action under its key. Fields without a value are left out.
func formatAction(action faults.Action) (string, error) {
	form, ok := faults.Open(action)
	if !ok {
		return "", fmt.Errorf("a %T cannot be written to a file", action)
	}
	var entries []string
	for _, field := range form.Fields {
		if text := field.Text(); text != "" {
			entries = append(entries, field.Key+": "+text)
		}
	}
	return fmt.Sprintf("%s: {%s}", form.Name, strings.Join(entries, ", ")), nil
}
