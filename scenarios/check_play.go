package scenarios

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"locksim/scenarios/file"
	"locksim/scenarios/kinds"
	"locksim/scenarios/play"
	"locksim/scenarios/search"
)

// doubtEvery is how many seeds there are to one whose run is made twice.
const doubtEvery = 20

// tryBlock plays a block of consecutive seeds, up to the first that fails.
func (c *checkup) tryBlock(first uint64) {
	if c.outOfTime() {
		return
	}
	c.tally.blocks++
	for i := range uint64(c.plan.block) {
		if c.try(search.Draw(search.Seeded(first+i), c.space), first+i); c.failure != "" {
			return
		}
	}
}

// try plays one schedule and counts it. What is wrong with the lock becomes the
// failure.
func (c *checkup) try(sc *Scenario, seed uint64) {
	o, broken, err := c.lock.Try(sc, seed)
	if err != nil {
		c.failure = c.noRun(sc, seed, err)
		return
	}
	c.tally.add(sc, o)
	doubt := ""
	if len(broken) == 0 && seed%doubtEvery == 0 {
		doubt = c.secondRun(sc, o)
	}
	if len(broken) == 0 && doubt == "" {
		return
	}
	found, err := search.ExamineRun(c.lock, sc, o, broken)
	if err != nil {
		c.failure = c.noRun(sc, seed, err)
		return
	}
	found.Doubt(doubt)
	c.failure = c.report(found)
	return
}

// secondRun makes a run a second time, and says how it differs, if it does.
func (c *checkup) secondRun(sc *Scenario, o *Outcome) string {
	again, _, err := c.lock.Try(sc, o.Seed)
	if err != nil {
		return err.Error()
	}
	if differs := play.Differ(o, again); differs != nil {
		return differs.Where()
	}
	return ""
}

// report stores a failure, if it can be tried again, and is all there is to say
// about it.
func (c *checkup) report(f *search.Found) string {
	if len(f.Violations) == 0 {
		return f.Text(c.commandFrom(f.Seed))
	}
	path, err := store(c.dir, f)
	if err != nil {
		return f.Text(err.Error(), c.commandFrom(f.Seed))
	}
	lines := []string{"stored in " + path + ", which this test tries first from now on"}
	return f.Text(slices.Concat(lines, c.stepByStep(path), []string{c.command()})...)
}

// stepByStep is the command that shows a stored failure, if locksim has the lock.
func (c *checkup) stepByStep(path string) []string {
	if !kinds.Reserved(c.lock.Name) {
		return nil
	}
	return []string{"step by step: go run locksim/cmd/locksim replay " + path}
}

// command makes the test again, and with it what is stored.
func (c *checkup) command() string {
	return fmt.Sprintf("replay: go test -run '^%s$'", strings.ReplaceAll(regexp.QuoteMeta(c.name), "/", "$/^"))
}

// commandFrom makes the test again from a seed on, since nothing is stored.
func (c *checkup) commandFrom(seed uint64) string {
	return fmt.Sprintf("%s, with Options{Seed: %d}", c.command(), seed)
}

// noRun is the complaint about a run that came to no verdict: the lock panicked,
// never came to an end, or left something behind.
func (c *checkup) noRun(sc *Scenario, seed uint64, cause error) string {
	source, err := file.Format(sc)
	if err != nil {
		source = []byte(err.Error())
	}
	return fmt.Sprintf("seed %d: a run of %s came to no verdict: %v\n\nschedule, as it was drawn:\n%s\n%s",
		seed, c.lock.Name, cause, "  "+strings.ReplaceAll(strings.TrimSpace(string(source)), "\n", "\n  ")+"\n", c.commandFrom(seed))
}
