package bruteforce_test

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"locksim/checker"
	"locksim/internal/testruns"
)

// noFence are the facts of the run without a fence, for the label rescued.
var noFence = &checker.Facts{Data: checker.DataCorrupted}

// TestSmallHistoriesAreJudgedTheSame makes random histories: both judges have the
// same label and the same facts. Each fact and each label occurs.
func TestSmallHistoriesAreJudgedTheSame(t *testing.T) {
	n := testruns.Soak(t, 100_000, 0.02)
	reached := map[string]int{}
	valid, wrong := 0, 0
	refused := map[string]int{}
	for seed := range uint64(n) {
		h := randomHistory(seed)
		v, err := judge(h)
		if err != nil {
			refused[err.Error()]++
			continue
		}
		valid++
		reached["label "+string(v.Label)]++
		facts := reflect.ValueOf(v.Facts)
		for i := range facts.NumField() {
			name, _, _ := strings.Cut(facts.Type().Field(i).Tag.Get("json"), ",")
			if facts.Field(i).Kind() == reflect.String {
				reached[name+" "+facts.Field(i).String()]++
			} else if !facts.Field(i).IsZero() {
				reached[name]++
			}
		}
		all := differences(h, noFence, v)
		if len(all) == 0 {
			continue
		}
		if wrong++; wrong <= 10 {
			h = smaller(h)
			v, _ := judge(h)
			t.Errorf("seed %d: %s\n%s", seed, strings.Join(differences(h, noFence, v), "; "), text(reflect.ValueOf(h)))
		}
	}
	t.Logf("%d histories, %d of them valid, %d judged differently", n, valid, wrong)
	for _, name := range slices.Sorted(maps.Keys(reached)) {
		t.Logf("%7.3f%% %s", 100*float64(reached[name])/float64(valid), name)
	}
	if testing.Verbose() {
		for why, times := range refused {
			t.Log(times, why)
		}
	}
}

func judge(h checker.History) (v checker.Verdict, err error) {
	defer func() {
		if p := recover(); p != nil {
			v.Label = checker.Label(fmt.Sprint("PANIC ", p))
			v.Facts.Liveness = "panic"
		}
	}()
	return checker.Judge(h, noFence)
}

// smaller removes parts of a history as long as the first difference stays.
func smaller(h checker.History) checker.History {
	first := func(h checker.History) string {
		v, err := judge(h)
		if err != nil {
			return ""
		}
		all := differences(h, noFence, v)
		if len(all) == 0 {
			return ""
		}
		name, _, _ := strings.Cut(all[0], ":")
		return name
	}
	want := first(h)
	for {
		i := slices.IndexFunc(parts(h), func(c checker.History) bool { return first(c) == want })
		if i < 0 {
			return h
		}
		h = parts(h)[i]
	}
}

// parts are the histories that lack one part of a history.
func parts(h checker.History) (all []checker.History) {
	for i, g := range h.Grants {
		c := h
		c.Grants = without(h.Grants, i)
		c.Ops = slices.DeleteFunc(slices.Clone(h.Ops), func(o checker.Op) bool { return o.Grant == g.ID })
		all = append(all, c)
	}
	for i := range h.Attempts {
		c := h
		c.Attempts = without(h.Attempts, i)
		all = append(all, c)
	}
	for i := range h.Ops {
		c := h
		c.Ops = without(h.Ops, i)
		all = append(all, c)
	}
	for i := range h.Holdings {
		c := h
		c.Holdings = without(h.Holdings, i)
		all = append(all, c)
	}
	for i := range h.Deletions {
		c := h
		c.Deletions = without(h.Deletions, i)
		all = append(all, c)
	}
	if h.Timing != nil {
		c := h
		c.Timing = nil
		all = append(all, c)
		for _, client := range slices.Sorted(maps.Keys(h.Timing.Away)) {
			for i := range h.Timing.Away[client] {
				timing := *h.Timing
				timing.Away = maps.Clone(h.Timing.Away)
				timing.Away[client] = without(h.Timing.Away[client], i)
				c.Timing = &timing
				all = append(all, c)
			}
		}
	}
	for i, g := range h.Grants {
		for f := range reflect.ValueOf(g).NumField() {
			c := h
			c.Grants = slices.Clone(h.Grants)
			field := reflect.ValueOf(&c.Grants[i]).Elem().Field(f)
			if !field.IsZero() {
				field.SetZero()
				all = append(all, c)
			}
		}
	}
	return all
}

func without[T any](s []T, i int) []T { return slices.Delete(slices.Clone(s), i, i+1) }
