// Preloaded into a server, so that its clocks are those that another program sets, through a shared file. This part is the
// same for all servers: the part that follows it has clock_gettime, and the layout of the file.
//
// No memory is allocated and no symbol is looked up, since the allocator of the server may ask for the time itself.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define SECOND 1000000000LL
#define MILLION 1000000LL

// attached maps the file, or returns NULL if the server is to have the clocks of the machine.
static void *attached(size_t size, int writable) {
	const char *name = getenv("LOCKSIM_CLOCK");
	int fd = name ? open(name, (writable ? O_RDWR : O_RDONLY) | O_CLOEXEC) : -1;
	if (fd < 0)
		return NULL;
	void *p = mmap(NULL, size, PROT_READ | (writable ? PROT_WRITE : 0), MAP_SHARED, fd, 0);
	close(fd);
	return p == MAP_FAILED ? NULL : p;
}

static int64_t nanoseconds(const struct timespec *t) { return t->tv_sec * SECOND + t->tv_nsec; }

static struct timespec timespec(int64_t ns) {
	struct timespec t = {ns / SECOND, ns % SECOND};
	return t;
}

int gettimeofday(struct timeval *tv, void *zone) {
	(void)zone;
	struct timespec t;
	int failed = clock_gettime(CLOCK_REALTIME, &t);
	tv->tv_sec = t.tv_sec;
	tv->tv_usec = t.tv_nsec / 1000;
	return failed;
}

time_t time(time_t *out) {
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	if (out)
		*out = t.tv_sec;
	return t.tv_sec;
}
