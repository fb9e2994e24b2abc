// Package formattest reads what the reports write for machines with parsers that
// others wrote: JSON with a validator of JSON Schemas, JUnit XML with a library
// that reads such files. It is a module of its own, so that locksim does not bring
// those along.
package formattest
