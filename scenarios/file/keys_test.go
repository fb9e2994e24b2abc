package file_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"locksim/scenarios/file"
)

// together are the settings without which a value of a key is refused.
var together = map[string]func(*file.Scenario){
	"kind":     func(s *file.Scenario) { s.Store = "my-fence" }, // for sections that are late
	"beside":   func(s *file.Scenario) { s.Workload.Resources = []string{"a", "b"} },
	"deadline": func(s *file.Scenario) { s.Workload.Request = time.Second },
	"look":     func(s *file.Scenario) { s.Workload.Kind = file.WorkloadFill },
	"ticks":    func(s *file.Scenario) { s.Workload.Kind = file.WorkloadLeader },
	"stock":    func(s *file.Scenario) { s.Workload.Kind = file.WorkloadStock },
	"take": func(s *file.Scenario) {
		s.Workload.Kind, s.Workload.Stock = file.WorkloadStock, file.MaxUnits // as many as it may take
	},
	"stop": func(s *file.Scenario) { s.Workload.Kind = file.WorkloadLeader },
}

// Another value of each key is written and read back, and is plainer after the changes that make it so. A value outside
// the limits is refused, by the name of the key.
func TestKeys(t *testing.T) {
	for _, k := range file.Keys() {
		t.Run(k.Name, func(t *testing.T) {
			s := file.Defaults()
			s.Name = "key"
			if set := together[k.Name]; set != nil {
				set(s)
			}
			plain := *s
			wrong := s.Clone()
			switch v := k.Value.(type) {
			case file.Number:
				*v.Of(s), *v.Of(wrong) = v.Most, v.Most+1
			case file.Length:
				*v.Of(s), *v.Of(wrong) = 7*time.Second, -1
				if v.Divides > 0 {
					*v.Of(s), *v.Of(wrong) = v.Divides, v.Divides/3
				}
			case file.Span:
				*v.Of(s), *v.Of(wrong) = file.Range{Min: 7 * time.Second, Max: 8 * time.Second}, file.Range{Min: 2, Max: 1}
			case file.Flag:
				*v.Of(s), wrong = true, nil
			case file.Word:
				v.Set(s, v.Words[len(v.Words)-1])
				v.Set(wrong, "unheard-of")
			case file.Names:
				*v.Of(s), *v.Of(wrong) = []string{"a", "b"}, nil
			}
			text, err := file.Format(s)
			if err != nil {
				t.Fatal(err)
			}
			read, err := file.Parse("key.yaml", text)
			if err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			if again, err := file.Format(read); err != nil || !bytes.Equal(again, text) ||
				!bytes.Contains(text, []byte(k.Name+": ")) {
				t.Errorf("read back it is\n%s, %v\nand was\n%s", again, err, text)
			}
			if wrong != nil {
				if err := wrong.Validate(); err == nil || !strings.Contains(err.Error(), k.Group+"."+k.Name) {
					t.Errorf("a value outside the limits: %v", err)
				}
			}
			for _, change := range k.Value.Plainer() {
				c := s.Clone()
				if change(c); c.Validate() != nil {
					t.Errorf("a plainer value is refused: %v", c.Validate())
				}
			}
			if first := k.Value.Plainer(); len(first) > 0 {
				first[0](s)
				first[0](&plain)
				a, err := file.Format(s)
				if b, err2 := file.Format(&plain); err != nil || err2 != nil || !bytes.Equal(a, b) {
					t.Errorf("its plainest value is\n%s, %v\nwant\n%s, %v", a, err, b, err2)
				}
			}
		})
	}
}
