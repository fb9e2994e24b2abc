// Package child starts a program, usually this one once more, as a child process and exchanges lines of JSON with it,
// on the standard input and output of the child. What the lines mean, packages workers and live say.
//
// A child sees the end of its parent as the end of its input. The parent ends a child by closing that, or kills it by
// its process id, and has the beginning and the end of what it wrote to standard error.
package child
