/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Limits by the carbon intensity of the grid or by a price: claims of class "signal" while a figure
 * is above a threshold. */

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/inotify.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "signal/figures.h"
#include "signal/follow.h"
#include "signal/series.h"

#define ASK_US (5 * USEC_PER_SEC)

typedef struct State {
	SeriesConfig *config;
	Holder *holder;
	Follow *follow;
	Figures *tariff; /* NULL: the daemon is not asked */
	sd_event_source *timer;
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

/* A daemon that is away is not waited for: its figure is not known, and limits nothing. */
static void on_tariff(void *userdata, const double *figures, const char *daemon)
{
	State *s = userdata;

	(void)daemon;
	series_tell(s->config, figures ? figures[0] : NAN, figures ? figures[1] : NAN);
	follow_look(s->follow);
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
	State *s = userdata;

	(void)usec;
	if (figures_ask(s->tariff, holder_bus(s->holder)) < 0)
		on_tariff(s, NULL, "");
	return sd_event_source_set_time_relative(source, ASK_US);
}

static int ask_daemon(State *s, sd_event *event)
{
	static const char *const names[] = { "Price", "CarbonIntensity", NULL };
	int r = figures_new(names, on_tariff, s, &s->tariff);

	if (r >= 0)
		r = sd_event_add_time_relative(event, &s->timer, CLOCK_BOOTTIME, 0, 0, on_timer, s);
	return r < 0 ? r : sd_event_source_set_enabled(s->timer, SD_EVENT_ON);
}

static void stop(void *state)
{
	State *s = state;

	sd_event_source_disable_unref(s->timer);
	figures_free(s->tariff);
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
	s->holder = host->holder;
	if (before)
		series_take_over(config, ((const State *)before)->config);
	for (size_t i = 0; i < _SERIES_MAX; i++)
		watch_folder(s, host->event, i);
	r = follow_new(host, want, config, &s->follow);
	if (r >= 0 && series_asks_daemon(config))
		r = ask_daemon(s, host->event);
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
