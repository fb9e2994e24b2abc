// Package browser tests the page of a run in a real Chromium. It is a module of
// its own, so that nothing else depends on what drives a browser.
package browser
