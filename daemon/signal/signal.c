/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "signal/signal.h"

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <systemd/sd-daemon.h>

#include "base/log.h"

enum { OPTION_BUS = 0x100, OPTION_CONFIG, OPTION_SYSFS, OPTION_CHECK };

typedef struct Run {
	const Signal *signal;
	const char *bus, *path;
	char *usual_path;
	bool check, nothing;
	SignalHost host;
	void *config, *state;
} Run;

static const struct option long_options[] = {
	{ "bus", required_argument, NULL, OPTION_BUS },
	{ "config", required_argument, NULL, OPTION_CONFIG },
	{ "sysfs", required_argument, NULL, OPTION_SYSFS },
	{ "check-config", no_argument, NULL, OPTION_CHECK },
	{ "version", no_argument, NULL, 'V' },
	{ "help", no_argument, NULL, 'h' },
	{},
};

static void print_help(const Signal *s)
{
	printf("storpower-signal-%s [OPTIONS]\n\n%s\n\n"
	       "  --config=FILE             read this configuration\n"
	       "                            (/etc/storpower/signals/%s.conf)\n"
	       "  --check-config            read it, report what is wrong, and end\n"
	       "  --bus=system|session|ADDRESS\n"
	       "                            find storpowerd there (default: system)\n"
	       "  --sysfs=DIR               look there instead of at /sys, for tests\n"
	       "  --version, --help\n\n"
	       "Exit status: 0 ended by a signal, or nothing to complain of; 1 failure, or\n"
	       "--check-config found something; 2 wrong usage.\n\n"
	       "See storpower-signal(8).\n",
	       s->name, s->about, s->name);
}

static int take_option(Run *run, int option)
{
	switch (option) {
	case OPTION_BUS: run->bus = optarg; break;
	case OPTION_CONFIG: run->path = optarg; break;
	case OPTION_SYSFS: run->host.sysfs = optarg; break;
	case OPTION_CHECK: run->check = true; break;
	case 'V':
		printf("storpower-signal-%s " STORPOWER_VERSION "\n", run->signal->name);
		run->nothing = true;
		break;
	case 'h':
		print_help(run->signal);
		run->nothing = true;
		break;
	default: return -EINVAL; /* getopt has complained */
	}
	return 0;
}

static int parse(Run *run, int argc, char **argv)
{
	int option, r = 0;

	while (r >= 0 && (option = getopt_long(argc, argv, "hV", long_options, NULL)) >= 0)
		r = take_option(run, option);
	if (r >= 0 && optind < argc) {
		fprintf(stderr, "storpower-signal-%s: \"%s\" is not an option: see --help\n",
			run->signal->name, argv[optind]);
		return -EINVAL;
	}
	return r;
}

static int read_config(const Run *run, void **ret, size_t *ret_warnings)
{
	int r = run->signal->read(run->path, ret, ret_warnings);

	if (r == -ENOENT)
		log_error("%s: there is no such file: an example is in "
			  "/usr/share/doc/storpower/signals/%s.conf",
			  run->path, run->signal->name);
	else if (r < 0)
		log_error_errno(r, "%s: cannot be read", run->path);
	return r;
}

static void stop(const Signal *s, void *config, void *state)
{
	if (state)
		s->stop(state);
	if (config)
		s->free_config(config);
}

/* The claims stay while the one configuration takes the other's place; one with a mistake does not.
 */
static int on_reload(sd_event_source *s, const struct signalfd_siginfo *si, void *userdata)
{
	Run *run = userdata;
	void *config = NULL, *state = NULL;
	size_t warnings;
	int r = read_config(run, &config, &warnings);

	(void)s, (void)si;
	if (r >= 0 && warnings)
		r = -EBADMSG;
	if (r >= 0)
		r = run->signal->start(&run->host, config, run->state, &state);
	if (r < 0) {
		log_error_errno(r, "The configuration stays as it was");
		stop(run->signal, config, NULL);
		return 0;
	}
	stop(run->signal, run->config, run->state);
	run->config = config;
	run->state = state;
	log_info("%s has been read anew", run->path);
	return 0;
}

static int wire(Run *run)
{
	sigset_t mask;
	int r = sd_event_default(&run->host.event);

	sigemptyset(&mask);
	sigaddset(&mask, SIGTERM);
	sigaddset(&mask, SIGINT);
	sigaddset(&mask, SIGHUP);
	sigprocmask(SIG_BLOCK, &mask, NULL);
	if (r >= 0)
		r = sd_event_add_signal(run->host.event, NULL, SIGTERM, NULL, NULL);
	if (r >= 0)
		r = sd_event_add_signal(run->host.event, NULL, SIGINT, NULL, NULL);
	if (r >= 0)
		r = sd_event_add_signal(run->host.event, NULL, SIGHUP, on_reload, run);
	if (r >= 0)
		r = sd_event_set_watchdog(run->host.event, true);
	return r;
}

static int serve(Run *run)
{
	int r = wire(run);

	if (r >= 0)
		r = holder_new(run->host.event, run->bus, run->signal->source, &run->host.holder);
	if (r >= 0)
		r = run->signal->start(&run->host, run->config, NULL, &run->state);
	if (r < 0)
		return log_error_errno(r, "storpower-signal-%s cannot start", run->signal->name);
	sd_notify(false, "READY=1");
	r = sd_event_loop(run->host.event);
	sd_notify(false, "STOPPING=1");
	return r;
}

static int act(Run *run)
{
	size_t warnings = 0;
	int r;

	if (!run->path) {
		run->usual_path = text_printf("/etc/storpower/signals/%s.conf", run->signal->name);
		run->path = run->usual_path;
	}
	r = run->path ? read_config(run, &run->config, &warnings) : -ENOMEM;
	if (r >= 0 && run->check)
		r = warnings ? -EINVAL : 0;
	else if (r >= 0)
		r = serve(run);
	stop(run->signal, run->config, run->state);
	holder_free(run->host.holder);
	sd_event_unref(run->host.event);
	free(run->usual_path);
	return r;
}

int signal_main(const Signal *s, int argc, char **argv)
{
	Run run = { .signal = s, .bus = "system", .host = { .sysfs = "/sys" } };

	if (parse(&run, argc, argv) < 0)
		return 2;
	return run.nothing || act(&run) >= 0 ? 0 : 1;
}
