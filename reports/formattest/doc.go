// Package formattest reads the reports for machines with independent parsers: JSON with
// a validator of JSON Schemas, JUnit XML with a library that reads such files. It is a
// separate module, so that locksim does not depend on these.
package formattest
