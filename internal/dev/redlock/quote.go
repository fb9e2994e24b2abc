package main

// quotable is the sentence above the page. A test holds it against the results.
const quotable = "TODO"

// live are the runs on real servers.
var live = []string{"## On real servers"}
