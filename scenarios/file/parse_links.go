package file

import (
	"time"

	"locksim/faults"
)

func readLatency(v value) faults.Action {
	l := faults.Latency{Direction: faults.DirectionBoth}
	f := v.fields("between", "and", "add", "jitter", "for", "direction")
	f.sides(&l.Between, &l.And)
	f.duration("add", &l.Add)
	f.duration("jitter", &l.Jitter)
	f.untilHealed(&l.For)
	f.choice("direction", (*string)(&l.Direction))
	return l
}

func readBandwidth(v value) faults.Action {
	b := faults.Bandwidth{Direction: faults.DirectionBoth}
	f := v.fields("between", "and", "rate", "for", "direction")
	f.sides(&b.Between, &b.And)
	f.need("rate", "rate: 10, in KB/s")
	f.whole("rate", &b.Rate)
	f.untilHealed(&b.For)
	f.choice("direction", (*string)(&b.Direction))
	return b
}

func readSlice(v value) faults.Action {
	s := faults.Slice{Direction: faults.DirectionBoth}
	f := v.fields("between", "and", "size", "delay", "for", "direction")
	f.sides(&s.Between, &s.And)
	f.need("size", "size: 8, in bytes")
	f.whole("size", &s.Size)
	f.duration("delay", &s.Delay)
	f.untilHealed(&s.For)
	f.choice("direction", (*string)(&s.Direction))
	return s
}

func readSlowClose(v value) faults.Action {
	s := faults.SlowClose{Direction: faults.DirectionBoth}
	f := v.fields("between", "and", "delay", "for", "direction")
	f.sides(&s.Between, &s.And)
	f.need("delay", "delay: 5s")
	f.duration("delay", &s.Delay)
	f.untilHealed(&s.For)
	f.choice("direction", (*string)(&s.Direction))
	return s
}

func readLoseReply(v value) faults.Action {
	l := faults.LoseReply{Count: 1}
	f := v.fields("between", "and", "count")
	f.sides(&l.Between, &l.And)
	f.some("count", &l.Count)
	return l
}

func readDelayMessage(v value) faults.Action {
	d := faults.DelayMessage{Direction: faults.DirectionForward}
	f := v.fields("between", "and", "by", "direction")
	f.sides(&d.Between, &d.And)
	f.need("by", "by: 15s")
	f.duration("by", &d.By)
	f.choice("direction", (*string)(&d.Direction))
	return d
}

func readPartition(v value) faults.Action {
	cut := faults.Partition{Bytes: faults.BytesHold, Direction: faults.DirectionBoth}
	f := v.fields("between", "and", "for", "bytes", "direction")
	f.sides(&cut.Between, &cut.And)
	f.untilHealed(&cut.For)
	f.choice("bytes", (*string)(&cut.Bytes))
	f.choice("direction", (*string)(&cut.Direction))
	return cut
}

func readReset(v value) faults.Action {
	var r faults.Reset
	f := v.fields("between", "and")
	f.sides(&r.Between, &r.And)
	f.need("and", "and: [r0]")
	return r
}

// sides reads the two sides of a network. The second may be left out for
// everything else.
func (f fields) sides(between, and *[]string) {
	f.need("between", "between: [c0]")
	f.names("between", between)
	f.names("and", and)
}

// untilHealed reads how long a fault lasts.
func (f fields) untilHealed(to *time.Duration) {
	f.lasting("for", to, "leave for out to last until the end of the workload")
}
