// Package reviews has the document of the review of a lock, and the rules by which its advice follows from its figures.
// Package [locksim/scenarios/review] measures the figures, reports show the document.
package reviews
