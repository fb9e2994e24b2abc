// The part of MariaDB: another program sets its clocks, and lets its threads go on. What stands before it is common.c
// of package shim.
//
// One thread runs at a time. When it waits, for a condition, a message, a time or another thread, the server is
// quiet, and the other program goes on: it sets the clocks, says which waits are over, and gives the turn to a thread
// that need not wait any more. So what the threads do is the same each time.
//
// The waits are in the file, and a wait for a condition is its entry there, not one of the C library: a signal makes
// the thread ready that has waited longest. Mutexes are those of the C library. A thread that waits for another one
// without any of these waits, since it looks again and again, gives its turn away after a number of looks.
#include <dlfcn.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <sys/select.h>
#include <sys/socket.h>

#define THREADS 1024
#define NEVER INT64_MAX

// RESTLESS is how many mutexes a thread unlocks in a turn before the others have theirs. While InnoDB's log is full, a
// statement looks whether the page cleaner has made a checkpoint until it has, and does not wait for it.
#define RESTLESS 3000

enum { FREE, RUNS, WAITS, READY };
enum { CONDITION = 1, MESSAGE, TIME, THREAD, SIGNAL, OTHERS };
enum { WALL, MONOTONIC };

// The layout of the file: turns.go has it too.
struct thread {
	_Atomic int32_t state;
	int32_t tid;
	int32_t wait;             // what it waits for
	int32_t fd;               // where the message is to come from
	int64_t what;             // the address of the condition, or the thread
	int64_t order;            // in which it began to wait, or became ready
	int64_t due;              // when the wait is over, in nanoseconds by its clock; NEVER
	int32_t clock;
	int32_t late;             // that is why it goes on
	_Atomic uint32_t go;      // 1: it has the turn
	int32_t unused;
	int64_t id;               // pthread_t
	int64_t born;             // no two threads have the same
};

struct shared {
	_Atomic int64_t now[2]; // nanoseconds, by the wall clock since 1970
	_Atomic int32_t taken;  // guards the rest
	int32_t running;
	_Atomic uint32_t quiet; // how often it has become quiet
	int32_t used;           // entries, from the first; those after them are free
	int64_t order;
	struct thread threads[THREADS];
};

static struct shared *shared;
static __thread struct thread *self;
static __thread int unlocked; // mutexes, since it got its turn

static int (*real_poll)(struct pollfd *, nfds_t, int);
static int (*real_create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
static int (*real_join)(pthread_t, void **);
static int (*real_sigwaitinfo)(const sigset_t *, siginfo_t *);
static int (*real_shutdown)(int, int);
static int (*real_unlock)(pthread_mutex_t *);
static int (*real_select)(int, fd_set *, fd_set *, fd_set *, struct timeval *);

static void lock(void) {
	while (atomic_exchange(&shared->taken, 1))
		sched_yield();
}

static void unlock(void) { atomic_store(&shared->taken, 0); }

static void wake(_Atomic uint32_t *word) { syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0); }

static void ready(struct thread *t) {
	t->state = READY;
	t->order = ++shared->order;
}

// stops says that this thread does not run any more, and tells the other program if none does. The caller has the lock,
// which it loses.
static void stops(void) {
	int last = --shared->running == 0;
	if (last)
		atomic_fetch_add(&shared->quiet, 1);
	unlock();
	if (last)
		wake(&shared->quiet);
}

static struct thread *claim(void) {
	for (struct thread *t = shared->threads; t < shared->threads + THREADS; t++)
		if (t->state == FREE) {
			t->tid = 0;
			t->wait = 0;
			t->go = 0;
			t->id = 0;
			t->born = ++shared->order;
			if (shared->used <= t - shared->threads)
				shared->used = t - shared->threads + 1;
			return t;
		}
	abort(); // more threads than entries: they would run at the same time
}

// me is the entry of this thread. One that the server has not made with pthread_create runs from now on.
static struct thread *me(void) {
	if (!self) {
		lock();
		self = claim();
		self->tid = syscall(SYS_gettid);
		self->id = (int64_t)pthread_self();
		self->state = RUNS;
		shared->running++;
		unlock();
	}
	return self;
}

static void await_turn(void) {
	while (!atomic_load(&self->go))
		syscall(SYS_futex, &self->go, FUTEX_WAIT, 0, NULL, NULL, 0);
	unlocked = 0;
}

// waits waits, and reports whether its time has come.
static int waits(int wait, int64_t what, int fd, int64_t due, int clock, pthread_mutex_t *mutex) {
	struct thread *t = me();
	if (due <= shared->now[clock]) {
		if (mutex) {
			pthread_mutex_unlock(mutex);
			pthread_mutex_lock(mutex);
		}
		return 1;
	}
	lock();
	t->wait = wait;
	t->what = what;
	t->fd = fd;
	t->due = due;
	t->clock = clock;
	t->late = 0;
	t->order = ++shared->order;
	t->go = 0;
	t->state = WAITS;
	unlock();
	if (mutex)
		real_unlock(mutex);
	lock();
	stops();
	await_turn();
	if (mutex)
		pthread_mutex_lock(mutex);
	return t->late;
}

__attribute__((constructor)) static void attach(void) {
	real_poll = dlsym(RTLD_NEXT, "poll");
	real_create = dlsym(RTLD_NEXT, "pthread_create");
	real_join = dlsym(RTLD_NEXT, "pthread_join");
	real_sigwaitinfo = dlsym(RTLD_NEXT, "sigwaitinfo");
	real_shutdown = dlsym(RTLD_NEXT, "shutdown");
	real_unlock = dlsym(RTLD_NEXT, "pthread_mutex_unlock");
	real_select = dlsym(RTLD_NEXT, "select");
	shared = attached(sizeof(struct shared), 1);
	if (!shared)
		_exit(99);
	me();
}

int clock_gettime(clockid_t clock, struct timespec *ts) {
	switch (shared ? clock : -1) {
	case CLOCK_REALTIME:
	case CLOCK_REALTIME_COARSE:
		*ts = timespec(shared->now[WALL]);
		return 0;
	case CLOCK_MONOTONIC:
	case CLOCK_MONOTONIC_RAW:
	case CLOCK_MONOTONIC_COARSE:
	case CLOCK_BOOTTIME:
		*ts = timespec(shared->now[MONOTONIC]);
		return 0;
	}
	return syscall(SYS_clock_gettime, clock, ts);
}

// std::chrono::system_clock::now is what the thread pool of InnoDB goes by, and nothing else. The pool makes no thread as
// long as that is before the time when it made the last one, so this clock does not go back when a new world sets the
// others: the only thread of the pool may wait for a page whose write waits for a thread.
int64_t _ZNSt6chrono3_V212system_clock3nowEv(void) {
	static int64_t before, last;
	if (!shared) {
		struct timespec t;
		clock_gettime(CLOCK_REALTIME, &t);
		return nanoseconds(&t);
	}
	lock();
	int64_t now = shared->now[MONOTONIC];
	if (now < last)
		before += last;
	last = now;
	now += before;
	unlock();
	return now;
}

int pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m) {
	waits(CONDITION, (int64_t)c, -1, NEVER, MONOTONIC, m);
	return 0;
}

int pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *due) {
	return waits(CONDITION, (int64_t)c, -1, nanoseconds(due), WALL, m) ? ETIMEDOUT : 0;
}

int pthread_cond_clockwait(pthread_cond_t *c, pthread_mutex_t *m, clockid_t clock, const struct timespec *due) {
	int by = clock == CLOCK_REALTIME ? WALL : MONOTONIC;
	return waits(CONDITION, (int64_t)c, -1, nanoseconds(due), by, m) ? ETIMEDOUT : 0;
}

// signalled makes those ready that wait for a condition, a thread or a message: the one that has waited longest, or all
// in this order.
static void signalled(int wait, int64_t what, int all) {
	lock();
	for (;;) {
		struct thread *first = NULL;
		for (struct thread *t = shared->threads; t < shared->threads + shared->used; t++)
			if (t->state == WAITS && t->wait == wait && (wait == MESSAGE ? t->fd : t->what) == what &&
				(!first || t->order < first->order))
				first = t;
		if (first)
			ready(first);
		if (!first || !all)
			break;
	}
	unlock();
}

int pthread_cond_signal(pthread_cond_t *c) {
	signalled(CONDITION, (int64_t)c, 0);
	return 0;
}

int pthread_cond_broadcast(pthread_cond_t *c) {
	signalled(CONDITION, (int64_t)c, 1);
	return 0;
}

// pthread_mutex_unlock is where a thread gives its turn away: it is likely to have no other mutex then.
int pthread_mutex_unlock(pthread_mutex_t *m) {
	if (!real_unlock) // libraries begin before this one does
		real_unlock = dlsym(RTLD_NEXT, "pthread_mutex_unlock");
	int r = real_unlock(m);
	if (self && ++unlocked >= RESTLESS) {
		lock();
		self->wait = OTHERS;
		self->go = 0;
		ready(self);
		stops();
		await_turn();
	}
	return r;
}

// poll looks, and waits until the other program says that there is something to see.
int poll(struct pollfd *f, nfds_t n, int ms) {
	int64_t due = ms < 0 ? NEVER : shared->now[MONOTONIC] + ms * MILLION;
	for (;;) {
		int r = real_poll(f, n, 0);
		if (r || !ms)
			return r;
		if (waits(MESSAGE, 0, n ? f[0].fd : -1, due, MONOTONIC, NULL))
			return real_poll(f, n, 0);
	}
}

int __poll_chk(struct pollfd *f, nfds_t n, int ms, size_t size) {
	(void)size;
	return poll(f, n, ms);
}

int shutdown(int fd, int how) {
	int r = real_shutdown(fd, how);
	signalled(MESSAGE, fd, 1);
	return r;
}

static void rest(int64_t ns) { waits(TIME, 0, -1, shared->now[MONOTONIC] + ns, MONOTONIC, NULL); }

int nanosleep(const struct timespec *t, struct timespec *left) {
	(void)left;
	rest(nanoseconds(t));
	return 0;
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *t, struct timespec *left) {
	(void)left;
	if (flags & TIMER_ABSTIME)
		waits(TIME, 0, -1, nanoseconds(t), clock == CLOCK_REALTIME ? WALL : MONOTONIC, NULL);
	else
		rest(nanoseconds(t));
	return 0;
}

int usleep(useconds_t us) {
	rest(us * 1000LL);
	return 0;
}

unsigned sleep(unsigned s) {
	rest(s * SECOND);
	return 0;
}

int select(int n, fd_set *r, fd_set *w, fd_set *e, struct timeval *t) {
	if (n > 0 || !t)
		return real_select(n, r, w, e, t);
	rest(t->tv_sec * SECOND + t->tv_usec * 1000LL);
	return 0;
}

int sigwaitinfo(const sigset_t *set, siginfo_t *info) {
	struct thread *t = me();
	lock();
	t->wait = SIGNAL;
	t->due = NEVER;
	t->state = WAITS;
	stops();
	int r = real_sigwaitinfo(set, info);
	lock();
	t->state = RUNS;
	shared->running++;
	unlock();
	return r;
}

struct start {
	void *(*run)(void *);
	void *argument;
	struct thread *thread;
};

static void *started(void *p) {
	struct start s = *(struct start *)p;
	free(p);
	self = s.thread;
	self->tid = syscall(SYS_gettid);
	self->id = (int64_t)pthread_self();
	await_turn();
	void *result = s.run(s.argument);
	int64_t id = self->id;
	lock();
	self->state = FREE;
	unlock();
	signalled(THREAD, id, 1);
	lock();
	stops();
	self = NULL;
	return result;
}

int pthread_create(pthread_t *id, const pthread_attr_t *attributes, void *(*run)(void *), void *argument) {
	me();
	struct start *s = malloc(sizeof *s);
	if (!s)
		return EAGAIN;
	lock();
	struct thread *t = claim();
	ready(t);
	unlock();
	*s = (struct start){run, argument, t};
	int failed = real_create(id, attributes, started, s);
	if (failed) {
		lock();
		t->state = FREE;
		unlock();
		free(s);
		return failed;
	}
	t->id = (int64_t)*id;
	return 0;
}

int pthread_join(pthread_t id, void **result) {
	lock();
	int there = 0;
	for (struct thread *t = shared->threads; t < shared->threads + THREADS; t++)
		there = there || (t->state != FREE && t->id == (int64_t)id);
	unlock();
	if (there)
		waits(THREAD, (int64_t)id, -1, NEVER, MONOTONIC, NULL);
	return real_join(id, result);
}

// What is written survives the end of the process, which is all that can happen to it here.
int fsync(int fd) {
	(void)fd;
	return 0;
}

int fdatasync(int fd) {
	(void)fd;
	return 0;
}
