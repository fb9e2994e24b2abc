// The part of the servers of a live run: what stands before it is common.c of package shim.
//
// The wall clock runs at a rate of its own from a time of its own. So does the monotonic clock with
// LOCKSIM_CLOCK_MONOTONIC in the environment: a wait for a time of it is then a wait until that clock shows it.
#define SETTINGS 256

// The layout of the file: clock.go has it too. All times are in nanoseconds.
struct setting {
	int64_t at;        // the machine's monotonic clock, when this came into force
	int64_t wall;      // the wall clock at that time
	int64_t monotonic; // the monotonic clock at that time
	int64_t ppm;       // by how many millionths both are too fast
};
struct shared {
	_Atomic uint64_t current; // the setting in force, modulo SETTINGS: the others are former ones
	struct setting settings[SETTINGS];
};

static const struct shared *shared;
static int pretend; // the monotonic clock too

__attribute__((constructor)) static void attach(void) {
	pretend = getenv("LOCKSIM_CLOCK_MONOTONIC") != NULL;
	shared = attached(sizeof(struct shared), 0);
}

static const struct setting *setting(void) {
	return &shared->settings[atomic_load((_Atomic uint64_t *)&shared->current) % SETTINGS];
}

static int64_t machine(void) {
	struct timespec t;
	syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &t);
	return nanoseconds(&t);
}

// passed is how long a setting has been in force, by the server's clocks.
static int64_t passed(const struct setting *s, int64_t machine) {
	int64_t d = machine - s->at;
	return d + (int64_t)((__int128)d * s->ppm / MILLION);
}

int clock_gettime(clockid_t clock, struct timespec *t) {
	int wall = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE;
	if (!shared || !(wall || (pretend && clock == CLOCK_MONOTONIC)))
		return syscall(SYS_clock_gettime, clock, t);
	const struct setting *s = setting();
	*t = timespec((wall ? s->wall : s->monotonic) + passed(s, machine()));
	return 0;
}

// A time before this is one of a monotonic clock, a later one is one of a wall clock. It is in 2001.
#define OF_WALL_CLOCK (1000000000 * SECOND)

// A clock may be set during a wait: so long it lasts at most, and then ends without a reason, as waits may do.
#define SLICE (20 * MILLION)

int pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex, const struct timespec *until) {
	int64_t due = nanoseconds(until);
	int wall = due >= OF_WALL_CLOCK;
	if (!shared || !pretend)
		return pthread_cond_clockwait(cond, mutex, wall ? CLOCK_REALTIME : CLOCK_MONOTONIC, until);
	int64_t start = machine();
	const struct setting *s = setting();
	int64_t left = due - (wall ? s->wall : s->monotonic) - passed(s, start);
	int64_t rate = MILLION + s->ppm;
	int64_t wait = left <= 0 ? 0 : rate <= 0 || left > SLICE * 10 ? SLICE : left * MILLION / rate;
	struct timespec end = timespec(start + (wait < SLICE ? wait : SLICE));
	int result = pthread_cond_clockwait(cond, mutex, CLOCK_MONOTONIC, &end);
	return result == ETIMEDOUT && wait >= SLICE ? 0 : result;
}
