package sim

import (
	"context"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"
)

// The goroutines of a process are known by their profile labels, which the goroutines that
// they start inherit.

// labelKey is the key of the label, whose value is different for each process.
const labelKey = "locksim"

// lookKey is the key of a label of goroutines that look at a process for the harness.
const lookKey = "locksim-look"

// labelled are the processes of the runs that are under way.
var labelled struct {
	count    atomic.Uint64
	byValue  sync.Map // of the label: string → *Process
	byLabels sync.Map // of a goroutine: unsafe.Pointer → *Process
}

//go:linkname goroutineLabels runtime/pprof.runtime_getProfLabel
func goroutineLabels() unsafe.Pointer

//go:linkname setGoroutineLabels runtime/pprof.runtime_setProfLabel
func setGoroutineLabels(labels unsafe.Pointer)

// labelSet is how package runtime/pprof represents labels, in the order of their keys.
type labelSet struct {
	list []struct{ key, value string }
}

// begin gives a process its context and its labels.
func (p *Process) begin() {
	value := p.streamName(strconv.FormatUint(labelled.count.Add(1), 10))
	labelled.byValue.Store(value, p)
	p.ctx, p.cancel = context.WithCancel(pprof.WithLabels(context.Background(), pprof.Labels(labelKey, value)))
	p.look = pprof.WithLabels(p.ctx, pprof.Labels(lookKey, ""))
	p.notice, p.notify = context.WithCancel(p.ctx)
	p.global = &lockedSource{source: p.Source("global")}
	p.entropy = &lockedReader{r: p.Entropy("crypto/rand")}
}

// processIn is the process whose goroutines have a label, which may be followed by other text, and which incarnation it
// is.
func processIn(label string) (name string, incarnation int) {
	label, _, _ = strings.Cut(label, `"`)
	parts := strings.Split(label, "/") // see [Process.streamName]
	if incarnation = 1; len(parts) == 3 {
		incarnation, _ = strconv.Atoi(parts[1]) // it is a number
	}
	return parts[0], incarnation
}

// forgetLabels forgets the labels of a run that is over.
func (ps *processes) forgetLabels() {
	forget := func(all *sync.Map) {
		all.Range(func(key, p any) bool {
			if p.(*Process).w == ps.w {
				all.Delete(key)
			}
			return true
		})
	}
	forget(&labelled.byValue)
	forget(&labelled.byLabels)
}

// adopt makes the calling goroutine one of the process.
func (p *Process) adopt() { pprof.SetGoroutineLabels(p.ctx) }

// Do calls f in the name of the process: the goroutines that f starts are the process's,
// and so are the random numbers that f draws from crypto/rand. With the build overlay it
// has the process's clocks and network too: see [Overlaid].
func (p *Process) Do(f func()) {
	before := goroutineLabels()
	p.adopt()
	defer setGoroutineLabels(before)
	f()
}

// Look calls f for the harness, which asks code of the process what it has, such as a lease until when it lasts. It is
// Do, but f reads the clocks of the process also while that is paused. What f does besides waits for the end of the
// pause.
func (p *Process) Look(f func()) {
	before := goroutineLabels()
	pprof.SetGoroutineLabels(p.look)
	defer setGoroutineLabels(before)
	f()
}

// looks reports whether the calling goroutine is in a call of Look.
func (p *Process) looks() bool {
	labels := goroutineLabels()
	if labels == nil || !labelsFit() {
		return false
	}
	return slices.ContainsFunc((*labelSet)(labels).list,
		func(l struct{ key, value string }) bool { return l.key == lookKey })
}

// thisProcess is the process of the calling goroutine, nil for none.
func thisProcess() *Process { return processOf(goroutineLabels()) }

// processOf is the process with these labels, nil for none.
func processOf(labels unsafe.Pointer) *Process {
	if labels == nil {
		return nil
	}
	if p, ok := labelled.byLabels.Load(labels); ok {
		return p.(*Process)
	}
	if !labelsFit() {
		return nil
	}
	for _, l := range (*labelSet)(labels).list { // code under test may have added labels
		if l.key != labelKey {
			continue
		}
		if p, ok := labelled.byValue.Load(l.value); ok {
			labelled.byLabels.Store(labels, p)
			return p.(*Process)
		}
	}
	return nil
}

// labelsFit reports whether labels are as this package knows them.
var labelsFit = sync.OnceValue(func() (fit bool) {
	done := make(chan struct{})
	go pprof.Do(context.Background(), pprof.Labels(labelKey, "x", "z", "y"), func(context.Context) {
		defer close(done)
		list := (*labelSet)(goroutineLabels()).list
		fit = len(list) == 2 && list[0].key == labelKey && list[0].value == "x" && list[1].key == "z" && list[1].value == "y"
	})
	<-done
	return fit
})
