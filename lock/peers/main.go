package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/redis/go-redis/v9"
)

func main() {
	var o options
	flag.IntVar(&o.Rounds, "rounds", 201, "rounds of each contest; in a round every contender has one turn")
	flag.IntVar(&o.Sections, "sections", 100, "acquires with their releases in a turn")
	flag.IntVar(&o.Handovers, "handovers", 41, "rounds of the contest of hand-overs, with one in a turn")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Stdout, o)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

// run measures, and writes the report at the end.
func run(ctx context.Context, w io.Writer, o options) error {
	if err := o.validate(); err != nil {
		return err
	}
	redis.SetLogger(silence{})
	rig, err := newRig()
	if err != nil {
		return fmt.Errorf("start Redis: %w", err)
	}
	defer rig.close()
	contests, err := rig.contests(o)
	if err != nil {
		return fmt.Errorf("make the locks: %w", err)
	}
	var tables []table
	for _, c := range contests {
		times, err := c.hold(ctx)
		if err != nil {
			return fmt.Errorf("%s: %w", c.title, err)
		}
		tables = append(tables, c.table(times))
	}
	machine, err := rig.machine(ctx)
	if err != nil {
		return fmt.Errorf("describe the machine: %w", err)
	}
	return report{machine: machine, options: o, tables: tables}.write(w)
}

// silence is a go-redis logger that drops messages: failures are in the errors.
type silence struct{}

func (silence) Printf(context.Context, string, ...any) {}

// options say how much is measured.
type options struct {
	Rounds    int // of the contests of speed
	Sections  int // acquires with their releases in a turn of those
	Handovers int // rounds of the contest of hand-overs
}

func (o options) validate() error {
	if o.Rounds < 1 || o.Sections < 1 || o.Handovers < 1 {
		return fmt.Errorf("-rounds %d, -sections %d, -handovers %d: each must be at least 1", o.Rounds, o.Sections,
			o.Handovers)
	}
	return nil
}
