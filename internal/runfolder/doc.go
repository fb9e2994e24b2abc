// Package runfolder keeps runs in folders side by side, and finds out what such
// folders hold.
//
// [Name] is what a folder is called, [PointLatest] moves the link to the newest
// one, and a [Scanner] makes an index of all: of what came to its end by its
// document, and of campaigns at work by their journals. Files are known by their
// names alone, so that a folder may lie anywhere below, and may have been made by
// any command.
package runfolder
