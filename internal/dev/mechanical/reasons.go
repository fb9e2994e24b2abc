package mechanical

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Reasons reads a file of lines of a name and a reason, with a separator between them. The file is relative to the root
// of the checkout. The error names a line that is none, or has a name for the second time.
func Reasons(root, file, separator string) (map[string]string, error) {
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(file)))
	if err != nil {
		return nil, err
	}
	reasons := map[string]string{}
	for line := range strings.Lines(string(text)) {
		name, reason, ok := strings.Cut(strings.TrimSuffix(line, "\n"), separator)
		if !ok || reasons[name] != "" {
			return nil, fmt.Errorf(`%s: %q: want a name, %q and a reason, each name once`, file, line, separator)
		}
		reasons[name] = reason
	}
	return reasons, nil
}
