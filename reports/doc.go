// Package reports has the options, links and versions that all report formats share,
// and the JSON Schemas of the documents that locksim prints.
//
// Rendering is pure: an outcome in, bytes out. A format runs nothing, reads no clock,
// no environment and no file, and the same input gives the same bytes. Each format is
// a package with a function for each kind of input:
//
//	o, err := scenarios.Run(sc, l, scenarios.RunOptions{Seed: 1, Repeat: scenarios.Twice})
//	…
//	err = terminal.Run(os.Stdout, o, reports.Options{Repeat: scenarios.Twice})
//
// The formats:
//   - reports/terminal: a run, its timeline, a replayed run, the state of the world at
//     a step, a matrix, an exploration, a sweep, a review in short, a comparison.
//   - reports/markdown: a run, a matrix, a review, a comparison.
//   - reports/html: a run, a matrix with its pages, an exploration, a sweep, a review,
//     and the index over many folders.
//   - reports/chrome: a run, for trace viewers.
//   - reports/junit: a run and a matrix, for CI systems.
//
// The content of a report is separate from its form, so that all formats show the
// same: reports/scene is the content for a run, reports/grid for a matrix and a comparison,
// reports/campaign for an exploration and a sweep, reports/reviewpage for a review,
// reports/index for a folder of results. They have no pixels, markup or
// colours. Formats import them, and never each other.
package reports
