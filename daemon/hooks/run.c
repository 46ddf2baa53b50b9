/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "hooks/run.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/hook-folder.h"
#include "base/log.h"
#include "base/printable.h"
#include "base/spawn.h"
#include "base/text.h"

#define STATUS_VETO 1
#define SAID_MAX    (64 << 10) /* bytes, of which the first line counts */
#define SHOWN_MAX   120        /* of that line */

/* In place: the first line that is not empty, as far as it is shown. */
static const char *first_line(char *said)
{
	said += strspn(said, " \t\r\n");
	said[strcspn(said, "\r\n")] = '\0';
	if (strlen(said) > SHOWN_MAX)
		said[SHOWN_MAX] = '\0';
	return make_printable(said);
}

/* Of what is over nobody can veto anything. */
static void log_failure(const char *name, bool before, int r, const char *said)
{
	const char *but = before ? ": that is no veto" : "";

	if (r == -ETIMEDOUT)
		log_warning("%s: it took longer than hooks may, and was killed%s", name, but);
	else if (r < 0)
		log_warning_errno(r, "%s: it could not be run%s", name, but);
	else
		log_warning("%s: exit status %d%s: %s", name, r, but, said);
}

/* What it said, if it refused; else NULL. */
static char *run_one(const char *path, const char *name, const Question *q, uint64_t within_us)
{
	const char *argv[] = { path, q->event, q->step, q->device, NULL };
	_cleanup_free_ char *said = NULL;
	bool before = streq(q->event, "before");
	const char *line;
	int r = spawn_and_read(&(Program){ .argv = argv,
					   .environ = q->environ,
					   .with_errors = true,
					   .answer_max = SAID_MAX,
					   .within_us = within_us },
			       &said);

	line = said ? first_line(said) : "";
	if (r == STATUS_VETO && before) {
		log_notice("%s: %s of %s %s: %s", name, q->step, q->device,
			   q->may_veto ? "is vetoed" : "would be vetoed, and may not be", line);
		return text_printf("%s", *line ? line : "it said nothing");
	}
	if (r != 0)
		log_failure(name, before, r, line);
	else if (*line)
		log_info("%s: %s", name, line);
	return NULL;
}

/* False: it is not to be run. */
static bool is_run(const HookFile *f)
{
	if (f->unsafe)
		log_warning("%s: it is not run: %s", f->name, f->why_not);
	return !f->why_not;
}

static char *run_file(const char *folder, const HookFile *f, const Question *q, uint64_t until_us)
{
	_cleanup_free_ char *path = text_printf("%s/%s", folder, f->name);
	uint64_t now_us = clock_now_us(&clock_boottime);

	if (!path)
		return NULL;
	if (now_us >= until_us) {
		log_warning("%s: it is not run: those before it took all the time that hooks have",
			    f->name);
		return NULL;
	}
	return run_one(path, f->name, q, until_us - now_us);
}

int hooks_run(const char *folder, const Question *q, char **ret_answer)
{
	uint64_t until_us = clock_now_us(&clock_boottime) + q->timeout_us;
	_cleanup_(hook_folder_done) HookFolder found = {};
	char *answer = NULL;
	int r = hook_folder_read(folder, &found);

	if (r < 0 && r != -ENOENT)
		log_warning_errno(r, "%s: it cannot be read, and no hook is run", folder);
	for (size_t i = 0; i < found.n && !(answer && q->may_veto); i++) {
		const HookFile *f = &found.files[i];
		_cleanup_free_ char *veto = is_run(f) ? run_file(folder, f, q, until_us) : NULL;

		if (veto && !answer)
			answer = text_printf("veto %s: %s\n", f->name, veto);
	}
	if (!answer)
		answer = strdup("ok\n");
	if (!answer)
		return -ENOMEM;
	*ret_answer = answer;
	return 0;
}
