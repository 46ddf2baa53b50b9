/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* top on the whole of a terminal, which is given back as it was: at the end, and when a signal ends
 * or stops this program. */

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <termios.h>

#include "base/clock.h"
#include "ctl/top.h"
#include "ctl/words.h"

#define EVERY_US     (2 * USEC_PER_SEC)
#define FIRST_US     USEC_PER_SEC
#define HEADER_LINES 5 /* the sum, a blank, the header, the keys, the cursor */
/* The other screen, without a cursor, and lines that are cut off instead of wrapped */
#define OPEN  "\033[?1049h\033[?25l\033[?7l"
#define CLOSE "\033[?7h\033[?25h\033[?1049l"
#define CLEAR "\033[H\033[J"

typedef struct TopScreen {
	Ctl *ctl;
	TopView view;
	json_object *before, *rates; /* rates NULL: not known yet */
	struct termios found;
	bool has_keys; /* standard input is a terminal, and `found` how it was */
	int signals;   /* a signalfd */
} TopScreen;

static void open_screen(TopScreen *s)
{
	struct termios raw;

	s->has_keys = tcgetattr(STDIN_FILENO, &s->found) == 0;
	if (s->has_keys) {
		raw = s->found;
		raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
		(void)tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
	}
	fputs(OPEN, stdout);
	fflush(stdout);
}

static void close_screen(const TopScreen *s)
{
	fputs(CLOSE, stdout);
	fflush(stdout);
	if (s->has_keys)
		(void)tcsetattr(STDIN_FILENO, TCSADRAIN, &s->found);
}

static unsigned long rows_wanted(const Ctl *c)
{
	struct winsize size;

	if (c->lines)
		return c->lines;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > HEADER_LINES)
		return size.ws_row - HEADER_LINES;
	return ULONG_MAX;
}

static void draw(const TopScreen *s)
{
	_cleanup_json_ json_object *rows = top_arrange(&s->view, s->rates, rows_wanted(s->ctl));
	size_t width = words_terminal_width();
	char line[160];

	fputs(CLEAR, stdout);
	top_print(s->ctl, s->rates, rows, width);
	printf("%s", top_line(&s->view, line, sizeof(line), width));
	fflush(stdout);
}

/* Signals are taken in turn with keys, so that the terminal can be given back first. */
static int take_signals(TopScreen *s, sigset_t *ret_before)
{
	static const int taken[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGWINCH };
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < ELEMENTSOF(taken); i++)
		sigaddset(&set, taken[i]);
	if (sigprocmask(SIG_BLOCK, &set, ret_before) < 0)
		return -errno;
	s->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return s->signals < 0 ? -errno : 0;
}

/* What the signal does to a program that does not take it: end, or stop until it goes on. */
static void obey(TopScreen *s, int signal_number)
{
	sigset_t set;

	close_screen(s);
	sigemptyset(&set);
	sigaddset(&set, signal_number);
	signal(signal_number, SIG_DFL);
	raise(signal_number);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	/* only after SIGTSTP */
	sigprocmask(SIG_BLOCK, &set, NULL);
	open_screen(s);
}

static void read_signal(TopScreen *s)
{
	struct signalfd_siginfo info;

	if (read(s->signals, &info, sizeof(info)) == sizeof(info) && info.ssi_signo != SIGWINCH)
		obey(s, (int)info.ssi_signo);
}

/* The bytes of an arrow or the like, of which none is a key of ours: ESC, "[" or "O", and all up to
 * a letter or "~". 0: it is none. */
static size_t sequence_length(const char *keys, size_t n)
{
	size_t i;

	if (n < 2 || keys[0] != '\033' || (keys[1] != '[' && keys[1] != 'O'))
		return 0;
	for (i = 2; i < n; i++)
		if (keys[i] >= '@' && keys[i] <= '~')
			return i + 1;
	return n;
}

static void read_keys(TopScreen *s)
{
	char keys[64];
	ssize_t n = read(STDIN_FILENO, keys, sizeof(keys));

	if (n <= 0)
		s->view.quit = true; /* the terminal has gone */
	for (size_t i = 0; n > 0 && i < (size_t)n;) {
		size_t skipped = sequence_length(keys + i, (size_t)n - i);

		if (!skipped)
			top_key(&s->view, (unsigned char)keys[i]);
		i += skipped ?: 1;
	}
}

/* Until that time of the monotonic clock, or the end. */
static void wait_until(TopScreen *s, uint64_t then_us)
{
	struct pollfd fds[] = { { s->signals, POLLIN, 0 },
				{ s->has_keys ? STDIN_FILENO : -1, POLLIN, 0 } };

	for (uint64_t now = clock_now_us(&clock_boottime); now < then_us && !s->view.quit;
	     now = clock_now_us(&clock_boottime)) {
		if (poll(fds, ELEMENTSOF(fds), (int)((then_us - now) / USEC_PER_MSEC) + 1) <= 0)
			continue;
		if (fds[0].revents)
			read_signal(s);
		if (fds[1].revents)
			read_keys(s);
		draw(s);
	}
}

/* What goes wrong is said on the screen that stays. */
static int look(TopScreen *s)
{
	json_object *after = NULL;
	int status;

	if (top_try_sample(s->ctl, &after) < 0) {
		close_screen(s);
		status = top_sample(s->ctl, &after);
		if (status)
			return status;
		open_screen(s);
	}
	json_object_put(s->rates);
	s->rates = top_rates(s->before, after);
	json_object_put(s->before);
	s->before = after;
	draw(s);
	return STATUS_OK;
}

static int show(TopScreen *s)
{
	uint64_t then_us = clock_now_us(&clock_boottime) + FIRST_US;
	int status;

	open_screen(s);
	draw(s);
	for (;;) {
		wait_until(s, then_us);
		if (s->view.quit)
			break;
		status = look(s);
		if (status)
			return status; /* the screen is closed */
		then_us = clock_now_us(&clock_boottime) + EVERY_US;
	}
	close_screen(s);
	return STATUS_OK;
}

int top_screen(Ctl *c, json_object *before)
{
	TopScreen s = { .ctl = c, .before = before, .rates = json_object_new_array() };
	sigset_t found;
	int r = take_signals(&s, &found), status;

	status = r < 0 ? complain(STATUS_FAILURE, "Signals cannot be taken: %s", strerror(-r))
		       : show(&s);
	if (s.signals >= 0)
		close(s.signals);
	(void)sigprocmask(SIG_SETMASK, &found, NULL);
	json_object_put(s.rates);
	json_object_put(s.before);
	return status;
}
