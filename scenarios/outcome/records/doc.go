// Package records stores what drivers have seen of runs, so that a later judge can say what it thinks of them without
// playing them again: see [locksim/scenarios/evidence.Record].
//
// A file of records is gzip of lines of JSON. The first line says what the file is, and its version; each of the others
// is a [Run]. Within a version fields are only added. A field that a file does not have is one that its record does not
// know, and has its zero value. A field that this program does not know is an error, since a rule may rest on it: a
// newer locksim has written the file, and can judge it.
package records
