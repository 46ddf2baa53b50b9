/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* One record (base/records.h):
 *
 *	storpower-policy 2 #01234567
 *	chosen policy="saver" configured="balanced" by="storpowerctl (root)" at=1700000000000000
 *#...
 */

#include "journal/policy-file.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/records.h"
#include "base/set-aside.h"

static int take_choice(void *record, void *userdata)
{
	PolicyChoice *c = record, *ret = userdata;

	if (!*c->name || strchr(c->name, '/'))
		return -EINVAL;
	if (ret->name)
		return -EEXIST;
	*ret = *c;
	*c = (PolicyChoice){};
	return 0;
}

static const RecordKind choice_kind = {
	.name = "chosen",
	.size = sizeof(PolicyChoice),
	.take = take_choice,
	.fields = { FIELD(PolicyChoice, name, "policy"),
		    FIELD(PolicyChoice, configured, "configured"), FIELD(PolicyChoice, by, "by"),
		    FIELD(PolicyChoice, realtime_us, "at") },
};

static const RecordsFormat format = {
	.name = "policy",
	.kinds = (const RecordKind *const[]){ &choice_kind, NULL },
	.loss = "the policy is the configured one",
};

int policy_choice_read(const char *path, PolicyChoice *ret)
{
	_cleanup_(policy_choice_done) PolicyChoice c = {};
	_cleanup_free_ char *text = NULL;
	size_t n = 0;
	int r = read_bytes(path, &text, &n);

	if (r >= 0)
		r = records_read(&format, path, text, n, &c);
	if (r < 0 && r != -ENOENT)
		return r;
	if (r > 0)
		(void)set_aside_copy(path, text, n);
	*ret = c;
	c = (PolicyChoice){};
	return 0;
}

int policy_choice_write(const char *path, const PolicyChoice *c)
{
	_cleanup_free_ char *text = NULL;
	RecordsWriter w;
	size_t n;
	int r;

	if (!c->name)
		return unlink(path) < 0 && errno != ENOENT ? -errno : 0;
	r = records_begin(&w, format.name);
	if (r < 0)
		return r;
	records_add(&w, &choice_kind, c);
	r = records_end(&w, &text, &n);
	return r < 0 ? r : write_bytes_atomic(path, text, n, 0644);
}

void policy_choice_done(PolicyChoice *c)
{
	free(c->name);
	free(c->configured);
	free(c->by);
	*c = (PolicyChoice){};
}
