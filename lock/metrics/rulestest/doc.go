// Package rulestest runs the alert rules of package metrics in Prometheus' own rule manager, over what a
// measured lock shows it scrape by scrape. It is a module of its own, so that the main module does not depend
// on Prometheus.
package rulestest
