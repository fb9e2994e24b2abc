package file

import "locksim/faults"

// The readers of actions fill in the defaults, so that what is not written is
// the same as the default written out.

func readPause(v value) faults.Action {
	var pause faults.Pause
	f := v.fields("process", "for")
	f.whom("process", &pause.Process, "c0")
	f.need("for", "for: 15s")
	f.duration("for", &pause.For)
	return pause
}

func readCrash(v value) faults.Action {
	crash := faults.Crash{Mode: faults.CrashProcess}
	f := v.fields("process", "mode")
	f.whom("process", &crash.Process, "c0")
	f.choice("mode", (*string)(&crash.Mode))
	return crash
}

func readRestart(v value) faults.Action {
	var restart faults.Restart
	v.fields("process").whom("process", &restart.Process, "c0")
	return restart
}

func readSlow(v value) faults.Action {
	var slow faults.Slow
	f := v.fields("process", "by", "for")
	f.whom("process", &slow.Process, "c0")
	f.need("by", "by: 2s")
	f.duration("by", &slow.By)
	f.untilHealed(&slow.For)
	return slow
}

func readKillWorker(v value) faults.Action {
	var kill faults.KillWorker
	v.fields("process").whom("process", &kill.Process, "c0")
	return kill
}

func readExhaustPool(v value) faults.Action {
	var exhaust faults.ExhaustPool
	f := v.fields("process", "for")
	f.whom("process", &exhaust.Process, "c0")
	f.untilHealed(&exhaust.For)
	return exhaust
}

func readClockJump(v value) faults.Action {
	var jump faults.ClockJump
	f := v.fields("clock", "by")
	f.whom("clock", &jump.Clock, "r0")
	f.need("by", "by: 5s or by: -5s")
	f.duration("by", &jump.By)
	return jump
}

func readClockDrift(v value) faults.Action {
	var drift faults.ClockDrift
	ppm := 0
	f := v.fields("clock", "ppm", "for")
	f.whom("clock", &drift.Clock, "r0")
	f.need("ppm", "ppm: 10000")
	f.whole("ppm", &ppm)
	f.untilHealed(&drift.For)
	drift.PPM = int64(ppm)
	return drift
}

func readClockFreeze(v value) faults.Action {
	var freeze faults.ClockFreeze
	f := v.fields("clock", "for")
	f.whom("clock", &freeze.Clock, "r0")
	f.untilHealed(&freeze.For)
	return freeze
}

func readRefuse(v value) faults.Action {
	var refuse faults.Refuse
	f := v.fields("node", "for")
	f.whom("node", &refuse.Node, "r0")
	f.untilHealed(&refuse.For)
	return refuse
}

func readStall(v value) faults.Action {
	var stall faults.Stall
	f := v.fields("node", "for")
	f.whom("node", &stall.Node, "r0")
	f.untilHealed(&stall.For)
	return stall
}

func readFailover(v value) faults.Action {
	failover := faults.Failover{To: faults.FirstReplica, Old: faults.OldFenced}
	f := v.fields("to", "old", "clients")
	f.choice("to", &failover.To)
	f.choice("old", (*string)(&failover.Old))
	f.names("clients", &failover.Clients)
	f.group("clients", func(v value) {
		if len(failover.Clients) == 0 {
			v.p.fail(v.pos, "%s: nobody is told of the new primary: name clients, or leave clients out to tell them all", v.name())
		}
	})
	return failover
}

func readEvict(v value) faults.Action {
	evict := faults.Evict{Policy: faults.EvictAllKeysLRU, Keys: 1}
	f := v.fields("node", "policy", "keys")
	f.whom("node", &evict.Node, "r0")
	f.choice("policy", (*string)(&evict.Policy))
	f.some("keys", &evict.Keys)
	return evict
}

func readFlush(v value) faults.Action {
	flush := faults.Flush{What: faults.FlushKeys}
	f := v.fields("node", "what")
	f.whom("node", &flush.Node, "r0")
	f.choice("what", (*string)(&flush.What))
	return flush
}

func readReadOnly(v value) faults.Action {
	var readOnly faults.ReadOnly
	f := v.fields("node", "for")
	f.whom("node", &readOnly.Node, "r0")
	f.untilHealed(&readOnly.For)
	return readOnly
}

// whom reads the name of the one who is struck, which must be there.
func (f fields) whom(key string, to *string, example string) {
	f.need(key, key+": "+example)
	f.text(key, to)
}

// choice reads a word that may be left out for a default, but not be empty.
func (f fields) choice(key string, to *string) {
	f.group(key, func(v value) {
		if v.text(to); *to == "" {
			v.p.fail(v.pos, "%s: there is no word: write one, or leave %s out for the default", v.name(), key)
		}
	})
}

// some reads a number that may be left out for 1, but not be 0.
func (f fields) some(key string, to *int) {
	f.group(key, func(v value) {
		if v.whole(to); *to == 0 {
			v.p.fail(v.pos, "%s: 0 is none: give a number from 1 up", v.name())
		}
	})
}
