// The part of PostgreSQL: another program sets its wall clock, and fires its timers. What stands before it is common.c of
// package shim.
//
// The wall clock stands still until the file has another time. A timer does not run: the process notes when it is due, and
// the other program sends it SIGALRM when that time has come. So all time limits of the server (lock_timeout,
// statement_timeout, deadlock_timeout, idle_session_timeout and others), which are code of PostgreSQL, go by that clock.
#define TIMERS 1024

// The layout of the file: clock.go has it too.
struct shared {
	_Atomic int64_t now; // nanoseconds since 1970
	struct {
		_Atomic int64_t pid; // 0: free
		_Atomic int64_t due; // nanoseconds since 1970; 0: none
	} timers[TIMERS];
};

static struct shared *shared;

__attribute__((constructor)) static void attach(void) {
	shared = attached(sizeof(struct shared), 1);
}

static int64_t now(void) { return atomic_load(&shared->now); }

int clock_gettime(clockid_t clock, struct timespec *ts) {
	if (!shared || clock != CLOCK_REALTIME)
		return syscall(SYS_clock_gettime, clock, ts);
	*ts = timespec(now());
	return 0;
}

// The slot of this process; a child has none of its parent.
static int slot = -1;
static pid_t slot_of;

// claim makes a slot this process's: a free one, or that of a process which was killed.
static void claim(void) {
	pid_t me = getpid();
	if (slot >= 0 && slot_of == me)
		return;
	for (int killed = 0; killed <= 1; killed++) {
		for (int i = 0; i < TIMERS; i++) {
			int64_t owner = atomic_load(&shared->timers[i].pid);
			if (killed ? !(kill(owner, 0) < 0 && errno == ESRCH) : owner != 0)
				continue;
			if (atomic_compare_exchange_strong(&shared->timers[i].pid, &owner, me)) {
				atomic_store(&shared->timers[i].due, 0);
				slot = i;
				slot_of = me;
				return;
			}
		}
	}
	abort(); // more processes than slots: a time limit would not be kept
}

__attribute__((destructor)) static void leave(void) {
	if (slot < 0 || slot_of != getpid())
		return;
	atomic_store(&shared->timers[slot].due, 0);
	atomic_store(&shared->timers[slot].pid, 0);
}

int setitimer(__itimer_which_t which, const struct itimerval *value, struct itimerval *old) {
	if (!shared || which != ITIMER_REAL)
		return syscall(SYS_setitimer, which, value, old);
	int64_t us = (int64_t)value->it_value.tv_sec * 1000000 + value->it_value.tv_usec;
	claim();
	atomic_store(&shared->timers[slot].due, us ? now() + us * 1000 : 0);
	return 0;
}
