// Package reports renders what became of a run for people to read.
//
// It is pure: an outcome in, bytes out. It runs nothing, reads no clock, no
// environment and no file, and the same outcome gives the same bytes.
//
//	o, err := scenarios.Run(sc, l, scenarios.RunOptions{Seed: 1, Repeat: scenarios.Twice})
//	…
//	err = reports.Terminal(os.Stdout, o, reports.Options{Repeat: scenarios.Twice})
//
// [Terminal] is the whole report of a run: the verdicts, the reasons, the story
// and what all that does not prove. [Replayed] confirms a stored run, [State]
// shows the world at one step of a run.
package reports
