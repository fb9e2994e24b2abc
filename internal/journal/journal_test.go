package journal_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"locksim/internal/journal"
)

// What was added is there when the journal is read again. A line that was cut off, or damaged at the end, is not, and
// spoils none after it; a damaged one before others is an error that says where it is.
func TestJournal(t *testing.T) {
	for _, tt := range []struct {
		name, before string
		want         []string
		wrong        string
	}{
		{"missing", "", nil, ""},
		{"whole", "\"first\"\n", []string{`"first"`}, ""},
		{"cut off", "\"first\"\n\"sec", []string{`"first"`}, ""},
		{"damaged at the end", "\"first\"\n\x00\x00\x00\n", []string{`"first"`}, ""},
		{"damaged before others", "\"first\"\nsec\n\"third\"\n", nil,
			"results.jsonl:2: this line is not a result: delete it"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "results.jsonl")
			if tt.before != "" {
				if err := os.WriteFile(file, []byte(tt.before), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			read := func() (lines []string, end int64, err error) {
				text, _ := os.ReadFile(file) // it may be missing
				end, err = journal.Read(file, text, func(number int, line []byte) error {
					if number != len(lines)+1 {
						t.Errorf("line %d has the number %d", len(lines)+1, number)
					}
					if line[0] != '"' {
						return journal.ErrNoResult
					}
					lines = append(lines, string(line))
					return nil
				})
				return lines, end, err
			}
			lines, end, err := read()
			if tt.wrong != "" {
				if err == nil || !strings.Contains(err.Error(), tt.wrong) {
					t.Errorf("the error is %v, want %q", err, tt.wrong)
				}
				return
			}
			if err != nil || !slices.Equal(lines, tt.want) {
				t.Fatalf("%q, %v, want %q", lines, err, tt.want)
			}
			j, err := journal.Open(file, end)
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(j.Add("a <b>"), j.Close()); err != nil {
				t.Fatal(err)
			}
			if lines, _, err = read(); err != nil || !slices.Equal(lines, append(tt.want, `"a <b>"`)) {
				t.Errorf("afterwards %q, %v", lines, err)
			}
		})
	}
}

// What take returns ends the reading, and no journal takes everything.
func TestErrors(t *testing.T) {
	wrong := errors.New("two results differ")
	end, err := journal.Read("x", []byte("1\n2\n3\n"), func(number int, _ []byte) error {
		if number == 2 {
			return wrong
		}
		return nil
	})
	if end != 2 || !errors.Is(err, wrong) {
		t.Errorf("%d, %v", end, err)
	}
	var none *journal.Journal
	if err := errors.Join(none.Add(1), none.Close()); err != nil {
		t.Error(err)
	}
}
