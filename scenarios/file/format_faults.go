package file

import (
	"fmt"
	"strings"

	"locksim/faults"
)

func formatTrigger(f faults.Fault) string {
	if f.When == nil {
		return fmt.Sprintf("at: %v", f.At)
	}
	trigger := fmt.Sprintf("when: {client: %s, event: %s, nth: %d}", f.When.Client, scalar(f.When.Name), f.When.Nth)
	if f.After > 0 {
		trigger += fmt.Sprintf("\n    after: %v", f.After)
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
