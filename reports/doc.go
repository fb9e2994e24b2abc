// Package reports renders what became of a run, for people and for programs.
//
// It is pure: an outcome in, bytes out. It runs nothing, reads no clock, no
// environment and no file, and the same outcome gives the same bytes.
//
//	o, err := scenarios.Run(sc, l, scenarios.RunOptions{Seed: 1, Repeat: scenarios.Twice})
//	…
//	err = reports.Terminal(os.Stdout, o, reports.Options{Repeat: scenarios.Twice})
//
// [terminal.Run] is the whole report of a run: the verdicts, the reasons, the story
// and what all that does not prove. [html.Run] is the same and more as one page for a
// browser, with a space-time diagram of each fencing mode. [markdown.Run] is for a pull
// request or the summary of a CI job, with a sequence diagram. [terminal.Timeline] is the
// story beside narrow columns that show who holds the lock at each step. [terminal.Replayed]
// confirms a stored run, [terminal.State] shows the world at one step of a run.
//
// [terminal.Matrix] and [markdown.Matrix] are a whole matrix; [html.Matrix], [html.MatrixLock]
// and [html.MatrixScenario] are the pages of a [html.MatrixSite].
// [html.Exploration] and [html.Sweep] are the pages of a search, [html.Index] is the
// page over many folders.
//
// [terminal.Comparison] and [markdown.Comparison] set locks side by side.
//
// [html.Review] and [markdown.Review] are the design review of a lock, [terminal.Review]
// is the same in short.
//
// For programs, [junit.Run] and [junit.Matrix] are what CI systems read, [chrome.Run] is what
// trace viewers open, and [Schema] describes the JSON of runs and matrices.
package reports
