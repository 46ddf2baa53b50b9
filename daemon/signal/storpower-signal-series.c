/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Limits by the carbon intensity of the grid or by a price: claims of class "signal" while a figure
 * is above a threshold. */

#include <errno.h>
#include <string.h>
#include <sys/inotify.h>

#include "base/log.h"
#include "base/text.h"
#include "signal/follow.h"
#include "signal/series.h"

typedef struct State {
	SeriesConfig *config;
	Follow *follow;
	sd_event_source *folders[_SERIES_MAX];
} State;

static int want(void *userdata, time_t now, Wishes *ret, time_t *ret_again)
{
	series_load(userdata);
	return series_wishes(userdata, now, ret, ret_again);
}

static int on_file(sd_event_source *source, const struct inotify_event *e, void *userdata)
{
	const State *s = userdata;

	(void)source, (void)e;
	follow_look(s->follow);
	return 0;
}

/* A file is replaced as often as it is written. Where nothing tells of that it is read each minute
 * all the same. */
static void watch_folder(State *s, sd_event *event, size_t i)
{
	const char *file = s->config->of[i].file;
	_cleanup_free_ char *folder = file ? strdup(file) : NULL;
	int r;

	if (!folder)
		return;
	strrchr(folder, '/')[folder == strrchr(folder, '/')] = '\0';
	r = sd_event_add_inotify(event, &s->folders[i], folder, IN_CLOSE_WRITE | IN_MOVED_TO,
				 on_file, s);
	if (r < 0)
		log_warning_errno(r, "%s cannot be watched: its files are read each minute",
				  folder);
}

static void stop(void *state)
{
	State *s = state;

	for (size_t i = 0; i < _SERIES_MAX; i++)
		sd_event_source_disable_unref(s->folders[i]);
	follow_free(s->follow);
	free(s);
}

static int start(const SignalHost *host, void *config, const void *before, void **ret)
{
	State *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return -ENOMEM;
	s->config = config;
	if (before)
		series_take_over(config, ((const State *)before)->config);
	for (size_t i = 0; i < _SERIES_MAX; i++)
		watch_folder(s, host->event, i);
	r = follow_new(host, want, config, &s->follow);
	if (r < 0) {
		stop(s);
		return r;
	}
	*ret = s;
	return 0;
}

static int read_config(const char *path, void **ret, size_t *ret_warnings)
{
	return series_config_read(path, (SeriesConfig **)ret, ret_warnings);
}

static void free_config(void *config)
{
	series_config_free(config);
}

int main(int argc, char **argv)
{
	static const Signal series = {
		.name = "series",
		.source = "series",
		.about =
			"Limits the power of this node's storage by the grid's carbon intensity, or by a price.",
		.read = read_config,
		.free_config = free_config,
		.start = start,
		.stop = stop,
	};

	return signal_main(&series, argc, argv);
}
