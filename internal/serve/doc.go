// Package serve shows a folder to the browsers of one machine.
//
// [Handler] answers with files of an os.Root, so that nothing outside the folder
// can be reached, whatever a request says, and with an index that is made anew
// for each request. [Listen] opens a port on a loopback address and on no other,
// and [Run] serves until its context ends.
//
// It trusts nobody who can send bytes to the port: a request that names another
// host is refused, so that a page of the internet cannot reach the folder through
// a name that it owns; answers are never taken for another type than they are
// sent as, and what they hold may load nothing from elsewhere.
package serve
