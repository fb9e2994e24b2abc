package main

import (
	"fmt"
	"io"
	"strings"
)

// report is the output of the command.
type report struct {
	machine machine
	options options
	tables  []table
}

func (r report) write(w io.Writer) error {
	var b strings.Builder
	fmt.Fprint(&b, "<!-- Written by `make peers`. Do not edit. -->\n\n# The locks beside their peers\n\n")
	fmt.Fprintf(&b, how, r.options.Rounds, r.options.Sections, r.options.Handovers)
	b.WriteString(r.machine.markdown())
	for _, t := range r.tables {
		b.WriteString("\n" + t.markdown())
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// how describes the measurement.
const how = `Real Redis servers on the loopback interface, one client per server that all locks share, with the options that the
documentation of package ` + "`lock`" +
	` asks for. The contenders take turns in every round, and another one begins each
time. A ratio divides two times of one round; the table has the median over all rounds, and the spread from the 10 %% to
the 90 %% quantile. Only ratios of one run mean anything: the times depend on the machine and on what else it does.

%d rounds of %d acquires and releases each for speed, %d rounds for the hand-over.
`

func (m machine) markdown() string {
	return fmt.Sprintf("\nMeasured on %d cores (%s, %s), %s, Redis %s; %s.\n",
		m.cores, m.processor, m.system, m.golang, m.redis, strings.Join(m.modules, ", "))
}
