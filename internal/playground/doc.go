// Package playground plays scenarios for a page: a request is a scenario as YAML with a lock, fencing modes and a seed,
// and an answer is all that the page shows, as data. It writes no HTML, and is compiled for js/wasm by package wasm;
// package page has the page. The same request has the same answer on every machine.
package playground
