package lock

// RaiseTokenSHA is how the second round of a RedlockFenced is seen on the wire.
var RaiseTokenSHA = raiseTokenScript.Hash()
