package scenarios

import (
	"flag"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// runPlan is how many runs are made, in blocks of consecutive seeds.
type runPlan struct{ blocks, block int }

func (p runPlan) runs() int { return p.blocks * p.block }

// rapidChecks is how many checks rapid makes by default. There are as many blocks.
const rapidChecks = 100

// planRuns follows -short and -rapid.checks as rapid itself does: it makes so many
// checks, and a fifth of them with -short. Of fewer runs than there are checks each is a block, and the other checks
// play nothing.
func planRuns(runs int) runPlan {
	p := runPlan{blocks: rapidChecks}
	if f := flag.Lookup("rapid.checks"); f != nil {
		if n, err := strconv.Atoi(f.Value.String()); err == nil {
			p.blocks = n
		}
	}
	if testing.Short() {
		p.blocks /= 5
	}
	p.block = (defaultRuns + rapidChecks - 1) / rapidChecks
	switch {
	case runs > 0 && runs < rapidChecks:
		p.blocks, p.block = (p.blocks*runs+rapidChecks-1)/rapidChecks, 1
	case runs > 0:
		p.block = (runs + rapidChecks - 1) / rapidChecks
	case testing.Short():
		p.block = shortRuns / (rapidChecks / 5)
	}
	return p
}

// trySeeds plays consecutive seeds up to the first failure.
func (c *checkup) trySeeds() {
	for i := range c.plan.blocks {
		if c.tryBlock(c.seed + uint64(i*c.plan.block)); c.failure != "" {
			return
		}
	}
}

// tryRapid lets rapid choose the seeds. After a block has failed, rapid plays it
// again and tries to shrink it: the failed block fails at once with the known
// failure, and all others pass at once, since the schedule is minimal already.
func (c *checkup) tryRapid() {
	tb := &rapidTB{TB: c.t}
	failed, line, tried := uint64(0), "", 0
	rapid.Check(tb, func(t *rapid.T) {
		first := anySeed.Draw(t, "seed")
		if line == "" && tried < c.plan.blocks {
			tried++
			if c.tryBlock(first); c.failure != "" {
				failed = first
				line, _, _ = strings.Cut(c.failure, "\n")
			}
		}
		if line != "" && first == failed {
			t.Fatal(line)
		}
	})
	c.addRapid(tb)
}

// anySeed draws all seeds with the same probability. Rapid's integers are often
// small, and blocks of consecutive seeds from small numbers would repeat each
// other.
var anySeed = rapid.Custom(func(t *rapid.T) uint64 {
	seed := uint64(0)
	for range 64 {
		seed <<= 1
		if rapid.Bool().Draw(t, "bit") {
			seed |= 1
		}
	}
	return seed
})

// addRapid adds the output of rapid to the failure: an error of rapid's, or the
// command with which rapid finds the failure again.
func (c *checkup) addRapid(tb *rapidTB) {
	switch {
	case !tb.failed:
	case c.failure == "":
		c.failure = strings.Join(tb.said, "\n")
	default:
		before, last := cutLast(c.failure)
		if again := tb.again(); again != "" {
			before += "\nto search on from there after a repair: " + again
		}
		c.failure = before + "\n" + last
	}
}

// cutLast splits the last line off a text.
func cutLast(text string) (before, last string) {
	i := strings.LastIndexByte(text, '\n')
	return text[:max(i, 0)], text[i+1:]
}

// rapidTB collects what rapid writes to the test, since Check reports a failure
// itself.
type rapidTB struct {
	testing.TB
	failed bool
	said   []string
}

func (tb *rapidTB) Logf(format string, args ...any)   {}
func (tb *rapidTB) Log(args ...any)                   {}
func (tb *rapidTB) Errorf(format string, args ...any) { tb.Error(fmt.Sprintf(format, args...)) }
func (tb *rapidTB) Error(args ...any) {
	tb.failed, tb.said = true, append(tb.said, fmt.Sprint(args...))
}
func (tb *rapidTB) Fatalf(format string, args ...any) { tb.Error(fmt.Sprintf(format, args...)) }
func (tb *rapidTB) Fatal(args ...any)                 { tb.Error(args...) }
func (tb *rapidTB) Fail()                             { tb.failed = true }
func (tb *rapidTB) FailNow()                          { tb.failed = true }
func (tb *rapidTB) Failed() bool                      { return tb.failed }

// again is the command with which rapid repeats the failing check.
func (tb *rapidTB) again() string {
	const hint = "To reproduce, specify "
	for _, line := range strings.Split(strings.Join(tb.said, "\n"), "\n") {
		if _, flags, ok := strings.Cut(line, hint); ok {
			return "go test " + flags
		}
	}
	return ""
}
