package search

// ByHand reports whether a kind of fault is drawn unless the space excludes it.
var ByHand = byHand
