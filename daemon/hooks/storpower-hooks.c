/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Runs the operator's hooks for storpowerd, which is at the other end of the socket that standard
 * input and output are: the daemon itself may not do what hooks may have to. */

#include <errno.h>
#include <getopt.h>
#include <string.h>
#include <sys/socket.h>

#include "base/ask.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/hook-folder.h"
#include "base/log.h"
#include "base/text.h"
#include "hooks/run.h"

#define QUESTION_MAX (64 << 10)
#define QUESTION_US  (5 * USEC_PER_SEC) /* for it to come */

static const struct option long_options[] = {
	{ "directory", required_argument, NULL, 'd' },
	{ "version", no_argument, NULL, 'V' },
	{ "help", no_argument, NULL, 'h' },
	{},
};

static void print_help(void)
{
	puts("storpower-hooks [OPTIONS]\n\n"
	     "Runs the hooks that storpowerd is to ask before a slow step, and to tell after it.\n"
	     "storpower-hooks.socket starts it. It reads lines STORPOWER_NAME=VALUE from standard\n"
	     "input, which the hooks have in their environment, and answers \"ok\" or \"veto NAME: "
	     "why\".\n\n"
	     "  --directory=DIR           run those of this folder (" HOOK_FOLDER ")\n"
	     "  --version, --help\n\n"
	     "Exit status: 0 it has answered; 1 failure; 2 wrong usage.\n\n"
	     "See storpower-hooks(8).");
}

/* 1: go on; 0: all is done; -EINVAL. */
static int parse(int argc, char **argv, const char **ret_folder)
{
	int option;

	while ((option = getopt_long(argc, argv, "hV", long_options, NULL)) >= 0)
		switch (option) {
		case 'd': *ret_folder = optarg; break;
		case 'V': puts("storpower-hooks " STORPOWER_VERSION); return 0;
		case 'h': print_help(); return 0;
		default: return -EINVAL; /* getopt has complained */
		}
	if (optind < argc) {
		fprintf(stderr, "storpower-hooks: \"%s\" is not an option: see --help\n",
			argv[optind]);
		return -EINVAL;
	}
	return 1;
}

static int serve(const char *folder)
{
	_cleanup_(question_done) Question q = {};
	_cleanup_free_ char *text = NULL, *answer = NULL;
	int r = read_to_end(STDIN_FILENO, QUESTION_MAX, clock_now_us(&clock_boottime) + QUESTION_US,
			    &text);

	if (r >= 0)
		r = question_parse(text, environ, &q);
	if (r < 0)
		return log_error_errno(r, "The question cannot be read");
	r = hooks_run(folder, &q, &answer);
	if (r < 0)
		return log_error_errno(r, "The hooks cannot be run");
	r = write_all(STDOUT_FILENO, answer, strlen(answer));
	/* systemd holds the socket, too, until what the hooks have left running is gone */
	(void)shutdown(STDOUT_FILENO, SHUT_WR);
	/* whoever waits for nothing may be gone */
	return r == -EPIPE || r == -ECONNRESET ? 0 : r;
}

int main(int argc, char **argv)
{
	const char *folder = HOOK_FOLDER;
	int r = parse(argc, argv, &folder);

	if (r <= 0)
		return r < 0 ? 2 : 0;
	return serve(folder) < 0 ? 1 : 0;
}
