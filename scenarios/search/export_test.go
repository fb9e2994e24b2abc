package search

// ByHand tells the kinds of fault that are drawn unasked.
var ByHand = byHand
