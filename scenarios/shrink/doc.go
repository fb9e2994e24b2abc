// Package shrink makes a scenario that fails smaller: fewer faults, fewer clients,
// plainer settings, rounder times, as long as it fails in the same way. [Minimize] is
// all of it; what "fails" means is a function of the caller's, so that the package
// plays nothing.
package shrink
