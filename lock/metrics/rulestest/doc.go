// Package rulestest runs the alert rules of package metrics in Prometheus' own rule manager, over scrapes of a measured
// lock. It is a separate module, so that the main module does not depend on Prometheus.
package rulestest
