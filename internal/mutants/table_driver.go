package main

// driverMutants are mistakes between the world and the judge: in what clients
// do, in what is written down of it, and in what is made of a verdict.
var driverMutants = []mutant{
	{
		name: "watch-begins-late", breaks: "the end of a lease is noticed only when the client has taken its first step",
		file:    "scenarios/client.go",
		find:    "\tg.unwatch = c.watch(g, known)\n\tgranted, err := c.proc.Mark(s.granted, describeLease(lease))\n\tif err != nil {\n\t\tg.unwatch()\n\t\treturn nil, err\n\t}\n",
		replace: "\tgranted, err := c.proc.Mark(s.granted, describeLease(lease))\n\tif err != nil {\n\t\treturn nil, err\n\t}\n\tg.unwatch = c.watch(g, known)\n",
		pkg:     "./scenarios", test: "TestPauseAtTheGrant",
	},
	{
		name: "answer-to-the-dead", breaks: "a refusal that comes to a client which has crashed counts as answered",
		file:    "scenarios/operation.go",
		find:    "op.Outcome != checker.OutcomeNotSent:",
		replace: "op.Outcome == checker.OutcomeOK:",
		pkg:     "./scenarios", test: "TestCrashAtTheAnswer",
	},
	{
		name: "leak-unseen", breaks: "a key that a failed acquire left behind is not looked for",
		file:    "scenarios/probe.go",
		find:    "\tp.probe = &probe{leaked: p.leftBehind(), held: p.heldUp()}\n",
		replace: "\tp.probe = &probe{held: p.heldUp()}\n",
		pkg:     "./scenarios", test: "TestProbe",
	},
	{
		name: "probe-never-asks-again", breaks: "a lock that gives up its wait early passes for stuck",
		file:    "scenarios/probe.go",
		find:    "\t\tif proc.Clock().Sleep(ctx, 10*time.Millisecond) != nil {\n",
		replace: "\t\tif proc != nil {\n",
		pkg:     "./scenarios", test: "TestProbe",
	},
	{
		name: "stuck-is-fine", breaks: "a lock that nobody can have any more is free in the end",
		file:    "scenarios/probe.go",
		find:    "\tcase !b.acquired:\n",
		replace: "\tcase b == nil:\n",
		pkg:     "./scenarios", test: "TestProbe",
	},
	{
		name: "events-not-counted", breaks: "a fault that waits for the second passing of an event strikes at the first",
		file:    "scenarios/schedule.go",
		find:    "f.When.Nth != s.passed[at] {",
		replace: "f.When.Nth < s.passed[at] {",
		pkg:     "./scenarios", test: "TestFaultsStrikeAtTheirEvents",
	},
	{
		name: "repetition-not-compared", breaks: "two runs of one seed that differ are not noticed",
		file:    "scenarios/run.go",
		find:    "if d == nil && a.Verdict.Facts == b.Verdict.Facts {",
		replace: "if d == nil || a != b {",
		pkg:     "./scenarios", test: "TestGlobalRandIsNoticed",
	},
	{
		name: "replay-not-compared", breaks: "a stored run that was edited replays as it stands",
		file:    "scenarios/replay.go",
		find:    "\tif len(e.Differences) == 0 {\n",
		replace: "\tif e != nil {\n",
		pkg:     "./scenarios", test: "TestReplayNoticesEdits",
	},
	{
		name: "baseline-behind-the-fence", breaks: "a rescue is measured against a run with the same fence",
		file:    "scenarios/run.go",
		find:    "return playMode(sc, l, opts, fence.None, nil)",
		replace: "return playMode(sc, l, opts, modes[len(modes)-1], nil)",
		pkg:     "./scenarios", test: "TestModesAgreeUpToTheFirstRefusal",
	},
	{
		name: "careless-clients", breaks: "a client that is to heed its lease writes after the end of it",
		file:    "scenarios/section.go",
		find:    "\tif care == checker.CareNever {\n",
		replace: "\tif care != \"\" {\n",
		pkg:     "./scenarios", test: "TestCarefulClientSurvivesThePause",
	},
	{
		name: "vacuous-runs-count", breaks: "a run in which no fault struck is evidence",
		file:    "scenarios/violation.go",
		find:    "len(m.FaultsFired) > 0 && !slices.Contains(m.FaultsFired, true):",
		replace: "len(m.FaultsFired) > 0 && !slices.Contains(m.FaultsFired, true) && m.Trace == nil:",
		pkg:     "./scenarios", test: "TestVacuous",
	},
	{
		name: "corruption-behind-the-fence", breaks: "data that is wrong in the mode of the promise is no violation",
		file:    "scenarios/violation.go",
		find:    "if promised && facts.Data == checker.DataCorrupted {",
		replace: "if !promised && facts.Data == checker.DataCorrupted {",
		pkg:     "./scenarios", test: "TestViolations",
	},
}
