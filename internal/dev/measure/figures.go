package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// figure is one line of the table.
type figure struct {
	name string
	of   func(c *codebase) string
}

var figures = []figure{
	{"lines", func(c *codebase) string { return fmt.Sprint(total(c.files)) }},
	{"lines of tests per line", func(c *codebase) string { return ratio(c.testLines, total(c.files)) }},
	{"files", func(c *codebase) string { return fmt.Sprint(len(c.files)) }},
	{"lines of a file, median / largest", func(c *codebase) string {
		return fmt.Sprintf("%d / %d", at(c.files, 50), at(c.files, 100))
	}},
	{"packages", func(c *codebase) string { return fmt.Sprint(len(c.packages)) }},
	{"files of the fullest package", func(c *codebase) string { return fmt.Sprint(at(c.packages, 100)) }},
	{"packages of more than 30 files", func(c *codebase) string { return fmt.Sprint(above(c.packages, 30)) }},
	{"exported names of the fullest package", func(c *codebase) string { return fmt.Sprint(largest(c.exported)) }},
	{"lines of a function, median / p90 / largest", func(c *codebase) string {
		return fmt.Sprintf("%d / %d / %d", at(c.functions, 50), at(c.functions, 90), at(c.functions, 100))
	}},
	{"largest method set", func(c *codebase) string { return fmt.Sprint(largest(c.methods)) }},
	{"fields of the largest struct", func(c *codebase) string { return fmt.Sprint(at(c.structs, 100)) }},
	{"largest interface", func(c *codebase) string { return fmt.Sprint(at(c.interfaces, 100)) }},
	{"interfaces of more than 10 methods", func(c *codebase) string { return fmt.Sprint(above(c.interfaces, 10)) }},
	{"lines of more than 120 columns, with tests", func(c *codebase) string { return fmt.Sprint(c.long) }},
	{"comment lines per line of code", func(c *codebase) string { return ratio(c.comments, c.code) }},
	{"unexported functions with a comment", func(c *codebase) string {
		return fmt.Sprintf("%d %%", 100*c.commented/max(c.plain, 1))
	}},
	{"short comments that repeat the name", func(c *codebase) string { return fmt.Sprint(c.repeated) }},
}

func total(list []sized) int {
	n := 0
	for _, s := range list {
		n += s.size
	}
	return n
}

func ratio(a, b int) string { return fmt.Sprintf("%.2f", float64(a)/float64(max(b, 1))) }

func at(list []sized, percent int) int {
	if len(list) == 0 {
		return 0
	}
	list = sorted(list)
	return list[len(list)-1-(len(list)-1)*percent/100].size
}

func above(list []sized, limit int) int {
	n := 0
	for _, s := range list {
		if s.size > limit {
			n++
		}
	}
	return n
}

func largest(of map[string]int) int {
	n := 0
	for _, size := range of {
		n = max(n, size)
	}
	return n
}

// sorted has the largest first.
func sorted(list []sized) []sized {
	return slices.SortedFunc(slices.Values(list), func(a, b sized) int {
		return cmp.Or(cmp.Compare(b.size, a.size), cmp.Compare(a.name, b.name))
	})
}

// printWorst names the largest of each kind.
func (c *codebase) printWorst(w *strings.Builder, n int) {
	if n <= 0 {
		return
	}
	methods := make([]sized, 0, len(c.methods))
	for name, size := range maps.All(c.methods) {
		methods = append(methods, sized{name, size})
	}
	for _, kind := range []struct {
		name string
		list []sized
	}{
		{"functions", c.functions}, {"method sets", methods}, {"structs", c.structs}, {"interfaces", c.interfaces},
		{"packages", c.packages}, {"files", c.files},
	} {
		fmt.Fprintf(w, "\n%s: the largest %s\n", c.folder, kind.name)
		list := sorted(kind.list)
		for _, s := range list[:min(n, len(list))] {
			fmt.Fprintf(w, "%8d  %s\n", s.size, s.name)
		}
	}
}
