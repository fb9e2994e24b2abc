// Package serve serves a folder to browsers on the same machine.
//
// [Handler] serves the files of an os.Root, so that no request can reach a file
// outside the folder, and an index, which it creates for each request. [Listen]
// opens a port on a loopback address and on no other, and [Run] serves until
// its context ends.
//
// It trusts no client of the port: a request to another host name is refused,
// so that a page of the internet cannot reach the folder through a name that it
// owns; browsers do not guess another type than the one that is sent, and a
// page cannot load anything from other servers.
package serve
