package campaign_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"locksim/internal/campaign"
)

// A shard has as many of the jobs as it says, also of more than anybody counts.
func TestShardOf(t *testing.T) {
	for n := 1; n <= 4; n++ {
		for i := range n {
			s := campaign.Shard{Index: i, Count: n}
			for jobs, has := 0, 0; jobs < 10; jobs++ {
				if got := s.Of(jobs); got != has {
					t.Errorf("shard %v has %d of %d jobs, want %d", s, got, jobs, has)
				}
				if s.Has(jobs) {
					has++
				}
			}
		}
	}
	if got := (campaign.Shard{Index: 1, Count: 2}).Of(math.MaxInt); got != math.MaxInt/2 {
		t.Errorf("half of the jobs are %d", got)
	}
}

func TestParseShard(t *testing.T) {
	for text, want := range map[string]campaign.Shard{"0/1": {Count: 1}, "2/8": {Index: 2, Count: 8}} {
		if got, err := campaign.ParseShard(text); got != want || err != nil || got.String() != text {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "1", "8/8", "-1/8", "0/0", "1/2/3", "a/b", "0/100001"} {
		if got, err := campaign.ParseShard(text); err == nil {
			t.Errorf("%q is %v", text, got)
		}
	}
}

// The two forms of a record, with the results of jobs 0 and 2.
const (
	asJournal = `{"version":1,"kind":"squares","jobs":3,"plan":{"jobs":3}}
{"job":2,"result":{"job":2,"value":4}}
{"job":0,"result":{"value":0,"job":0}}
`
	asDocument = `{
  "version": 1, "kind": "squares", "plan": {"jobs": 3}, "complete": false,
  "blocks": [{"job": 0, "value": 0}, {"job": 2, "value": 4}]
}
`
)

func read(t *testing.T, name, text string) *campaign.Record {
	t.Helper()
	r, err := campaign.Read(name, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A document and a journal with the same results give the same record.
func TestUnionOfBothForms(t *testing.T) {
	for _, forms := range [][]string{{asJournal, asDocument}, {asDocument, asJournal, asJournal}, {asDocument}} {
		var records []*campaign.Record
		for _, text := range forms {
			records = append(records, read(t, "file", text))
		}
		all, err := campaign.Union(records...)
		if err != nil {
			t.Fatal(err)
		}
		var jobs []int
		for i := range 3 {
			if all.Results[i] != nil {
				jobs = append(jobs, i)
			}
		}
		if diff := cmp.Diff([]int{0, 2}, jobs); diff != "" || all.Kind != "squares" {
			t.Error(diff)
		}
	}
}

// Union does not change its arguments.
func TestUnionDoesNotChangeItsArguments(t *testing.T) {
	a, b := read(t, "a", asDocument), read(t, "b", strings.ReplaceAll(asDocument, `"job": 2`, `"job": 1`))
	if all, err := campaign.Union(a, b); err != nil || len(all.Results) != 3 || len(a.Results) != 2 ||
		len(b.Results) != 2 {
		t.Errorf("%v, %v", all, err)
	}
}

// Union refuses records of different plans and results that differ, and the error names
// the difference and the files.
func TestUnionErrors(t *testing.T) {
	for _, c := range []struct{ name, old, new, want string }{
		{"plan", `"jobs": 3`, `"jobs": 4`, "b has the results of another plan than a: jobs is 4, not 3"},
		{"kind", "squares", "cubes", `kind is "cubes", not "squares"`},
		{"result", `"value": 4`, `"value": 5`, "a and b contradict each other about job 2: value is 4, not 5"},
	} {
		_, err := campaign.Union(read(t, "a", asDocument), read(t, "b", strings.Replace(asDocument, c.old, c.new, 1)))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if _, err := campaign.Union(); err == nil {
		t.Error("a union of no records is no error")
	}
}

func TestReadErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                 "there are no results in it",
		`{"version":1,"ki`: "there are no results in it",
		"{}\n":             "has no results of version 1",
		"[1, 2]\n":         "is neither a journal nor a document",
		`{"version":1,"kind":"squares","plan":{},"blocks":[{}]}` + "\n":         "blocks.0 has no job number",
		`{"version":1,"kind":"squares","plan":{},"blocks":[{"job":-2}]}` + "\n": "there is no job -2",
		strings.Replace(asDocument, "version\": 1", "version\": 7", 1):          "has no results of version 1",
		strings.Replace(asDocument, "]", "", 1):                                 "is neither a journal nor a document",
		strings.Replace(asDocument, `"job": 2`, `"job": 0`, 1):                  "contradict each other about job 0",
	} {
		if _, err := campaign.Read("file", []byte(text)); err == nil || !strings.Contains(err.Error(), want) ||
			!strings.Contains(err.Error(), "file") {
			t.Errorf("%s\n%v, want %q", text, err, want)
		}
	}
}

// Reading any file ends with a record or an error, and the union of a record with itself
// is the same record.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{asJournal, asDocument, asJournal[:len(asJournal)-5], asJournal + "\x00\x00", "{}", "",
		"\n\n"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := campaign.Read("file", data)
		if err != nil {
			if r != nil {
				t.Error("a record and an error")
			}
			return
		}
		for job, result := range r.Results {
			if job < 0 || len(result) == 0 {
				t.Errorf("job %d: %q", job, result)
			}
		}
		again, err := campaign.Union(r, r)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(r.Results, again.Results); diff != "" {
			t.Error(diff)
		}
	})
}

// A truncated journal has the results of its whole lines, unchanged.
func TestEveryPrefixOfAJournal(t *testing.T) {
	whole := read(t, "file", asJournal)
	for n := range len(asJournal) {
		r, err := campaign.Read("file", []byte(asJournal[:n]))
		if err != nil {
			if !errors.Is(err, campaign.ErrEmpty) || strings.Contains(asJournal[:n], "\n") {
				t.Errorf("%d bytes: %v", n, err)
			}
			continue
		}
		if len(r.Results) != strings.Count(asJournal[:n], "\n")-1 {
			t.Errorf("%d bytes: %d results", n, len(r.Results))
		}
		for job := range r.Results {
			if diff := cmp.Diff(whole.Results[job], r.Results[job]); diff != "" {
				t.Errorf("%d bytes: %s", n, diff)
			}
		}
	}
}
