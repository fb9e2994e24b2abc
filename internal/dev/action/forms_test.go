package action

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/goccy/go-yaml"
)

// form is a form for an issue, as GitHub reads it.
type form struct {
	Name        string
	Description string
	Labels      []string
	Body        []struct {
		Type       string
		ID         string
		Attributes struct {
			Label   string
			Value   string
			Options []any
		}
		Validations struct{ Required bool }
	}
}

// Each form has what GitHub asks for. Those about a failure ask for the command, with the seed.
func TestForms(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(root, ".github", "ISSUE_TEMPLATE", "*.yml"))
	if err != nil || len(files) != 4 {
		t.Fatalf("%v: %v", files, err)
	}
	for _, file := range files {
		if filepath.Base(file) == "config.yml" {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var f form
		if err := yaml.Unmarshal(text, &f); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if f.Name == "" || f.Description == "" || len(f.Body) == 0 {
			t.Errorf("%s: %+v", file, f)
		}
		var ids, required []string
		for _, e := range f.Body {
			a := e.Attributes
			switch e.Type {
			case "markdown":
				if a.Value == "" {
					t.Errorf("%s: a text is empty", file)
				}
				continue
			case "dropdown", "checkboxes":
				if len(a.Options) == 0 {
					t.Errorf("%s: %s has no options", file, e.ID)
				}
			case "input", "textarea":
			default:
				t.Errorf("%s: there is no type %q", file, e.Type)
			}
			if a.Label == "" || e.ID == "" || slices.Contains(ids, e.ID) {
				t.Errorf("%s: %+v", file, e)
			}
			ids = append(ids, e.ID)
			if e.Validations.Required {
				required = append(required, e.ID)
			}
		}
		if name := filepath.Base(file); name != "new-library.yml" && !slices.Contains(required, "command") {
			t.Errorf("%s does not ask for the command", file)
		}
	}
}
