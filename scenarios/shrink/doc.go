// Package shrink makes a failing scenario smaller: fewer faults, fewer clients,
// plainer settings, rounder times, as long as it fails in the same way. [Minimize]
// is its only function. The caller passes the function that decides whether a
// scenario fails, so that this package plays no runs.
package shrink
