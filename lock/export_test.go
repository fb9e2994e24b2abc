package lock

// RaiseTokenSHA identifies the second round of a RedlockFenced on the wire.
var RaiseTokenSHA = raiseTokenScript.Hash()
