// Package reach measures what locksim finds: it makes one mistake at a time in the locks, and looks for it as a user
// would, with the library of scenarios, the sweep, and random schedules.
//
// A mutant made by hand is a patch, patches/GROUP/NAME.patch; package patch has the format. Its header is a line
// "Kinds: KIND…", the kinds of lock that have the mistake and are tried, and, for a mutant that no lock's user could
// notice, a line "Equivalent: REASON". In the group order nothing but the order of messages or steps is wrong, in the
// group value nothing but a number: a benchmark of searches counts the two apart.
//
// The mechanical mutants, mechanical/NAME, are those of the sample of package mechanical that the unit tests of package
// lock kill. They are searched, until the first find, from what is cheap to what is dear; what an exploration finds, or
// nothing, is explored from the other first seeds too. All are in one program, which is compiled once, and an
// environment variable chooses one. equivalent.txt has reasons as those of the patches.
//
// A mutant is searched in a second kind of lock only if nothing is found in the first.
//
// The command locksim is built with each patch, or once with the mechanical mutants, and plays each kind:
//
//   - locksim matrix: the scenarios of the library that are about the kind;
//   - locksim sweep: single faults at the moments of sweep.yaml;
//   - locksim explore --promise: from each of up to three first seeds, until a run is a
//     violation.
//
// A mistake is found when the command exits with 1, or says that the lock panicked, or that it fails in a run without
// faults. Exit code 3 (a run was not deterministic, or did not end) is shown, and is not a find; nor is exit code 2 (a
// lock that fails without any fault cannot be swept), or a matrix that exits with 1 only because scenarios are vacuous.
// The same searches of the locks without a mistake must find nothing, and no scenario may be vacuous with them. On a
// machine that is very busy a run is taken for one that does not end, since it gets no time: delete the line of such a
// result, so that it is made again.
//
// The file --results gets a line of JSON for each mutant, and is committed: results.jsonl. A result there is kept if
// the mutant, the program and the limits are still the same, so that a run that was interrupted goes on when it is
// started again, on any machine. With --earlier it is kept after a change of the program too, and the table names the
// commit: delete its line to have it made anew. To share the work out, give each machine a --shard, and put the files
// of all together with cat.
//
// The progress goes to stderr. The table goes to stdout as Markdown, and names the mutants that have no result yet. It
// does not depend on the machine or the time.
package reach
