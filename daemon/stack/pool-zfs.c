/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "stack/pool-kinds.h"
#include "stack/topology-read.h"

#define ANSWER_SECONDS 10
#define ANSWER_MAX     (4UL << 20)
#define LEAVE_US       USEC_PER_SEC /* for a child to go after its last word */

/* Below a root other than "/sys": ROOT/sbin/zpool. */
static char *find_zpool(const char *sysfs_root)
{
	static const char *const places[] = { "/usr/sbin", "/sbin", "/usr/local/sbin", "/usr/bin" };

	if (!streq(sysfs_root, "/sys")) {
		_cleanup_free_ char *fake = text_printf("%s/sbin/zpool", sysfs_root);

		return fake && access(fake, X_OK) == 0 ? TAKE_PTR(fake) : NULL;
	}
	for (size_t i = 0; i < ELEMENTSOF(places); i++) {
		_cleanup_free_ char *path = text_printf("%s/zpool", places[i]);

		if (path && access(path, X_OK) == 0)
			return TAKE_PTR(path);
	}
	return NULL;
}

/* Workers block all signals; the child shall not. */
static int spawn_zpool(const char *program, int out, pid_t *ret)
{
	char *const argv[] = { (char *)"zpool", (char *)"status", (char *)"-P", NULL };
	char *const envp[] = { (char *)"LC_ALL=C", (char *)"PATH=/usr/sbin:/usr/bin:/sbin:/bin",
			       NULL };
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t none;
	int r;

	sigemptyset(&none);
	r = posix_spawn_file_actions_init(&files);
	if (r != 0)
		return -r;
	r = posix_spawnattr_init(&attr);
	if (r == 0) {
		posix_spawnattr_setsigmask(&attr, &none);
		posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
		posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
		posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
		posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
		r = posix_spawn(ret, program, &files, &attr, argv, envp);
		posix_spawnattr_destroy(&attr);
	}
	posix_spawn_file_actions_destroy(&files);
	return -r;
}

/* All that comes until the end of the file, or the end of its time. */
static int read_answer(int fd, uint64_t until_us, char **ret_text)
{
	_cleanup_free_ char *text = malloc(ANSWER_MAX + 1);
	size_t size = 0;

	if (!text)
		return -ENOMEM;
	for (;;) {
		uint64_t now_us = clock_now_us(&clock_boottime);
		struct pollfd p = { .fd = fd, .events = POLLIN };
		ssize_t n;

		if (now_us >= until_us || size == ANSWER_MAX)
			return now_us >= until_us ? -ETIMEDOUT : -EFBIG;
		if (poll(&p, 1, (int)((until_us - now_us) / USEC_PER_MSEC) + 1) <= 0)
			continue;
		n = read(fd, text + size, ANSWER_MAX - size);
		if (n < 0 && errno != EINTR)
			return -errno;
		if (n == 0)
			break;
		size += n > 0 ? (size_t)n : 0;
	}
	text[size] = '\0';
	*ret_text = TAKE_PTR(text);
	return 0;
}

static bool is_gone(pid_t pid, uint64_t within_us, int *ret_status)
{
	uint64_t until_us = clock_now_us(&clock_boottime) + within_us;
	pid_t r;

	while ((r = waitpid(pid, ret_status, WNOHANG)) == 0 &&
	       clock_now_us(&clock_boottime) < until_us)
		clock_sleep_us(&clock_boottime, 5 * USEC_PER_MSEC);
	return r != 0;
}

/* One that hangs in the kernel cannot even be killed, and is not waited for. */
static int reap(pid_t pid, bool answered)
{
	int status = -1;

	if (is_gone(pid, answered ? LEAVE_US : 0, &status))
		return status == 0 ? 0 : -EIO;
	kill(pid, SIGKILL);
	is_gone(pid, LEAVE_US, &status);
	return -EIO;
}

static int run_zpool(const char *program, char **ret_text)
{
	uint64_t until_us = clock_now_us(&clock_boottime) + ANSWER_SECONDS * USEC_PER_SEC;
	_cleanup_free_ char *text = NULL;
	_cleanup_close_ int in = -EBADF, out = -EBADF;
	int fds[2], r, left;
	pid_t pid = 0;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	in = fds[0];
	out = fds[1];
	r = spawn_zpool(program, out, &pid);
	if (r < 0 || pid <= 0)
		return r < 0 ? r : -ECHILD;
	closep(&out);
	out = -EBADF;
	r = read_answer(in, until_us, &text);
	left = reap(pid, r >= 0);
	if (r < 0 || left < 0)
		return r < 0 ? r : left;
	*ret_text = TAKE_PTR(text);
	return 0;
}

/* What a pool is in the middle of: the word of its line "scan:", and how people say it. Evacuation
 * of a removed device and expansion of a RAID-Z have lines of their own. */
static const struct {
	const char *key, *words, *why;
} works[] = {
	{ "scan", "scrub in progress", "is being scrubbed" },
	{ "scan", "scrub paused", "is being scrubbed (paused)" },
	{ "scan", "resilver in progress", "is being resilvered" },
	{ "scan", "in progress", "is being scanned" },
	{ "scrub", "in progress", "is being scrubbed" },
	{ "remove", "in progress", "is losing a device" },
	{ "expand", "in progress", "is being expanded" },
};

static int line_busy(const char *pool, const char *key, const char *value, char **ret_why)
{
	if (streq(key, "state") && !streq(value, "ONLINE"))
		return pool_keep_up(ret_why, "zpool %s is %s", pool, value);
	for (size_t i = 0; i < ELEMENTSOF(works); i++)
		if (streq(key, works[i].key) && strstr(value, works[i].words))
			return pool_keep_up(ret_why, "zpool %s %s", pool, works[i].why);
	return 0;
}

/* Lines "KEY: VALUE", the key right-aligned, "pool:" first of each pool. */
static int answer_busy(char *text, const char *pool, char **ret_why)
{
	bool ours = false;
	int r = 0;

	for (char *save, *line = strtok_r(text, "\n", &save); line && r == 0;
	     line = strtok_r(NULL, "\n", &save)) {
		char *key = line + strspn(line, " "), *colon = strchr(key, ':');
		char *value = colon ? colon + 1 + strspn(colon + 1, " ") : NULL;

		if (!colon || !islower((unsigned char)*key))
			continue;
		*colon = '\0';
		if (streq(key, "pool"))
			ours = streq(value, pool);
		else if (ours)
			r = line_busy(pool, key, value, ret_why);
	}
	return r;
}

int pool_zfs_busy(const char *sysfs_root, const char *device, char **ret_why)
{
	_cleanup_free_ char *pool = topology_zfs_pool(sysfs_root, device), *text = NULL;
	_cleanup_free_ char *program = pool && *pool ? find_zpool(sysfs_root) : NULL;
	int r = program ? run_zpool(program, &text) : 0;

	if (r >= 0)
		return text ? answer_busy(text, pool, ret_why) : 0;
	if (r == -ENOMEM)
		return r;
	log_warning_errno(r, "zpool status does not say how zpool %s is; its disks stay up", pool);
	return pool_keep_up(ret_why, "zpool status does not say how zpool %s is: %s", pool,
			    r == -ETIMEDOUT ? "no answer" : strerror(-r));
}
