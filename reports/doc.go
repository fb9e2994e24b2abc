// Package reports renders what became of a run, for people and for programs.
//
// It is pure: an outcome in, bytes out. It runs nothing, reads no clock, no
// environment and no file, and the same outcome gives the same bytes.
//
//	o, err := scenarios.Run(sc, l, scenarios.RunOptions{Seed: 1, Repeat: scenarios.Twice})
//	…
//	err = reports.Terminal(os.Stdout, o, reports.Options{Repeat: scenarios.Twice})
//
// [Terminal] is the whole report of a run: the verdicts, the reasons, the story
// and what all that does not prove. [HTML] is the same and more as one page for a
// browser, with a space-time diagram of each fencing mode. [Markdown] is for a pull
// request or the summary of a CI job, with a sequence diagram. [Timeline] is the
// story beside narrow columns that show who holds the lock at each step. [Replayed]
// confirms a stored run, [State] shows the world at one step of a run.
//
// [Matrix] and [MatrixMarkdown] are a whole matrix; [MatrixHTML], [MatrixLockHTML]
// and [MatrixScenarioHTML] are the pages of a [MatrixSite].
// [ExplorationHTML] and [SweepHTML] are the pages of a search, [IndexHTML] is the
// page over many folders.
//
// [Comparison] and [ComparisonMarkdown] set locks side by side.
//
// [ReviewHTML] and [ReviewMarkdown] are the design review of a lock, [ReviewSummary]
// is the same in short.
//
// For programs, [JUnit] and [MatrixJUnit] are what CI systems read, [Chrome] is what
// trace viewers open, and [Schema] describes the JSON of runs and matrices.
package reports
