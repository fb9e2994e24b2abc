package sim_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"

	"locksim/sim"
	"locksim/sim/trace"
)

// dies is a lock whose goroutine ends the program.
type dies struct {
	c  chan int
	wg sync.WaitGroup
}

func (d *dies) renew(p *sim.Process) {
	_ = p.Clock().Sleep(p.Context(), time.Second)
	close(d.c)
	close(d.c)
}

func (d *dies) ends() {
	time.Sleep(time.Second)
	d.wg.Done()
}

// TestOfAFatalEnd is the test in the processes of TestReadFatal.
func TestOfAFatalEnd(t *testing.T) {
	name := os.Getenv("LOCKSIM_TEST_FATAL")
	if name == "" {
		t.Skip("it is a part of TestReadFatal")
	}
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := debug.SetCrashOutput(f, debug.CrashOptions{}); err != nil {
		t.Fatal(err)
	}
	if os.Getenv("LOCKSIM_TEST_FATAL_KIND") == "none" {
		go panic("of no process\nin two lines")
		time.Sleep(time.Minute)
	}
	_, _ = sim.Run(sim.Config{Clients: 2}, func(w *sim.World) error {
		d := &dies{c: make(chan int)}
		p := w.Client(1)
		if os.Getenv("LOCKSIM_TEST_FATAL_KIND") == "restarted" {
			_ = w.Faults().Crash("c1", "process")
			p, _ = w.Faults().Revive("c1")
			p.Do(func() { go d.ends() })
		}
		p.Do(func() { go d.renew(p) })
		return w.RunFor(time.Minute)
	})
}

// What the runtime writes at the end of a program says whose goroutine it was, and where.
func TestReadFatal(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]sim.Fatal{
		"": {Text: "close of closed channel", Where: "in locksim/sim_test.(*dies).renew (fatal_test.go:27)",
			Process: "c1", Incarnation: 1},
		"restarted": {Text: "sync: negative WaitGroup counter", Process: "c1", Incarnation: 2},
		"none":      {Text: "of no process"},
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			name := filepath.Join(t.TempDir(), "crash")
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestOfAFatalEnd$")
			cmd.Env = append(os.Environ(), "LOCKSIM_TEST_FATAL="+name, "LOCKSIM_TEST_FATAL_KIND="+kind, "GODEBUG="+
				sim.ShowLabels)
			out, err := cmd.CombinedOutput()
			if err == nil {
				t.Fatalf("it did not end:\n%s", out)
			}
			dump, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			got, ok := sim.ReadFatal(string(dump))
			if !ok || got.Text != want.Text || got.Process != want.Process || got.Process != "" &&
				got.Incarnation != want.Incarnation ||
				want.Where != "" && got.Where != want.Where || !strings.HasPrefix(got.Stack, "goroutine ") {
				t.Errorf("%+v, want %+v", got, want)
			}
		})
	}
	if f, ok := sim.ReadFatal("signal: killed\n"); ok {
		t.Errorf("%+v is read from nothing", f)
	}
}

// A world that was halted remains as it is: no goroutine goes on, and the trace ends with the panic. Further runs can
// be made.
func TestHalt(t *testing.T) {
	var late bytes.Buffer
	run := func(incarnation int) (halted bool, tr *trace.Trace) {
		res, err := sim.Run(sim.Config{}, func(w *sim.World) error {
			p := w.Client(0)
			p.Do(func() {
				go func() {
					time.Sleep(2 * time.Second) // at no seam
					late.WriteString("goes on")
				}()
			})
			if err := w.RunFor(time.Second); err != nil {
				return err
			}
			halted = w.Halt("c0", incarnation, "oh, in f (f.go:1)")
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return halted, res.Trace
	}
	halted, tr := run(1)
	if last := tr.Events[len(tr.Events)-1]; !halted || last.Peer != "c0" ||
		last.What != (trace.Crash{Mode: "process", Panic: "oh, in f (f.go:1)"}) {
		t.Errorf("halted %v, the last event is %v", halted, last)
	}
	if late.Len() > 0 {
		t.Error("a goroutine went on")
	}
	if halted, _ := run(2); halted {
		t.Error("a process was halted that was not there")
	}
}
