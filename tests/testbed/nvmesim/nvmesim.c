/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* nvmesim: arguments, and the loop that does everything at its time. */

#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/signalfd.h>

#include "base/log.h"
#include "base/text.h"

#include "nvmesim.h"

#define CONNS_MAX 64
#define FDS_MAX   (3 + CONTROL_CLIENTS + CONNS_MAX)

static const char help[] =
	"nvmesim --drive=NAME|FILE [OPTION...]: an NVMe/TCP controller on 127.0.0.1\n"
	"nvmesim --send PATH COMMAND: say COMMAND to the simulator whose --control is PATH\n"
	"\n"
	"  --drive=NAME         pm9a3, p5510, ps1010, 970-evo-plus, pm1733, or a drive file (with /)\n"
	"  --scale=S            S times the MB/s, 1/S times the latencies and joules; 0 < S <= 1\n"
	"  --model=TEXT         instead of the drive's own\n"
	"  --serial=TEXT        SIM0001\n"
	"  --nqn=NQN            nqn.2026-01.org.storpower:sim\n"
	"  --port=N             4420; 0 for any\n"
	"  --size-mb=N          256\n"
	"  --queues=N           IO queues, 4\n"
	"  --in-capsule-kb=N    data that a command may carry itself, 1024; 0: always by R2T\n"
	"  --limit              feature 23h, power limit (NVMe 2.3)\n"
	"  --limit-dword=11|13  command dword that carries it in Set Features, 11\n"
	"  --measurement        feature and log 25h, power measurement (NVMe 2.3)\n"
	"  --ocp                feature C7h and log C4h, watts by OCP\n"
	"  --apst               idle transitions (feature 0Ch) are really made\n"
	"  --no-self-report     SMART says nothing of power\n"
	"  --log=FILE           every admin command, connects, resets, state changes\n"
	"  --control=PATH       control socket: state, reset, refuse FID STATUS, ignore FID, lie FID,\n"
	"                       slow FID TIME, hang, resume, clear-faults, quit\n";

enum {
	O_HELP = 1,
	O_DRIVE,
	O_SCALE,
	O_MODEL,
	O_SERIAL,
	O_NQN,
	O_PORT,
	O_SIZE,
	O_QUEUES,
	O_IN_CAPSULE,
	O_LIMIT,
	O_LIMIT_DWORD,
	O_MEASUREMENT,
	O_OCP,
	O_APST,
	O_NO_SELF_REPORT,
	O_LOG,
	O_CONTROL,
	O_SEND,
};

static const struct option long_options[] = {
	{ "help", no_argument, NULL, O_HELP },
	{ "drive", required_argument, NULL, O_DRIVE },
	{ "scale", required_argument, NULL, O_SCALE },
	{ "model", required_argument, NULL, O_MODEL },
	{ "serial", required_argument, NULL, O_SERIAL },
	{ "nqn", required_argument, NULL, O_NQN },
	{ "port", required_argument, NULL, O_PORT },
	{ "size-mb", required_argument, NULL, O_SIZE },
	{ "queues", required_argument, NULL, O_QUEUES },
	{ "in-capsule-kb", required_argument, NULL, O_IN_CAPSULE },
	{ "limit", no_argument, NULL, O_LIMIT },
	{ "limit-dword", required_argument, NULL, O_LIMIT_DWORD },
	{ "measurement", no_argument, NULL, O_MEASUREMENT },
	{ "ocp", no_argument, NULL, O_OCP },
	{ "apst", no_argument, NULL, O_APST },
	{ "no-self-report", no_argument, NULL, O_NO_SELF_REPORT },
	{ "log", required_argument, NULL, O_LOG },
	{ "control", required_argument, NULL, O_CONTROL },
	{ "send", required_argument, NULL, O_SEND },
	{ NULL },
};

typedef struct Arguments {
	const char *drive, *send;
	bool help;
} Arguments;

static int read_number(const char *name, const char *text, unsigned long min, unsigned long max,
		       unsigned *ret)
{
	unsigned long v;

	if (parse_unsigned(text, max, &v) < 0 || v < min)
		return log_full(LOG_ERR, EINVAL, "--%s: \"%s\" is not a number from %lu to %lu",
				name, text, min, max);
	*ret = (unsigned)v;
	return 0;
}

static int read_text(const char *name, const char *text, size_t max, const char **ret)
{
	if (!*text || strlen(text) > max)
		return log_full(LOG_ERR, EINVAL, "--%s: 1 to %zu characters", name, max);
	*ret = text;
	return 0;
}

static int read_scale(const char *text, double *ret)
{
	double v;

	if (parse_double(text, &v) < 0 || v < 1e-6 || v > 1)
		return log_full(LOG_ERR, EINVAL, "--scale: \"%s\" is not from 0.000001 to 1", text);
	*ret = v;
	return 0;
}

static int read_limit_dword(const char *text, unsigned *ret)
{
	if (!streq(text, "11") && !streq(text, "13"))
		return log_full(LOG_ERR, EINVAL, "--limit-dword: 11 or 13, not \"%s\"", text);
	*ret = streq(text, "11") ? 11 : 13;
	return 0;
}

static int read_flag(int option, Options *o)
{
	switch (option) {
	case O_LIMIT: o->limit = true; return 0;
	case O_MEASUREMENT: o->measurement = true; return 0;
	case O_OCP: o->ocp = true; return 0;
	case O_APST: o->apst = true; return 0;
	case O_NO_SELF_REPORT: o->no_self_report = true; return 0;
	default: return -EINVAL; /* getopt has complained */
	}
}

static int read_option(int option, Options *o, Arguments *a)
{
	unsigned n = 0;
	int r;

	switch (option) {
	case O_HELP: a->help = true; return 0;
	case O_DRIVE: a->drive = optarg; return 0;
	case O_SEND: a->send = optarg; return 0;
	case O_SCALE: return read_scale(optarg, &o->scale);
	case O_MODEL: return read_text("model", optarg, 40, &o->model);
	case O_SERIAL: return read_text("serial", optarg, 20, &o->serial);
	case O_NQN: return read_text("nqn", optarg, 223, &o->nqn);
	case O_PORT: return read_number("port", optarg, 0, 65535, &o->port);
	case O_QUEUES: return read_number("queues", optarg, 1, 32, &o->queues);
	case O_LOG: o->log_path = optarg; return 0;
	case O_CONTROL: o->control_path = optarg; return 0;
	case O_LIMIT_DWORD: return read_limit_dword(optarg, &o->limit_dword);
	case O_SIZE:
		r = read_number("size-mb", optarg, 1, 1024 * 1024, &n);
		if (r >= 0)
			o->size_bytes = n * 1024ULL * 1024;
		return r;
	case O_IN_CAPSULE:
		r = read_number("in-capsule-kb", optarg, 0, IO_MAX_BYTES / 1024, &n);
		if (r >= 0)
			o->in_capsule_bytes = n * 1024;
		return r;
	default: return read_flag(option, o);
	}
}

static int make_disk(Sim *s)
{
	void *disk = mmap(NULL, s->options.size_bytes, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (disk == MAP_FAILED)
		return log_error_errno(errno, "No memory for the disk: --size-mb=");
	s->disk = disk;
	return 0;
}

static int open_signals(Sim *s)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return -errno;
	s->signal_fd = signalfd(-1, &set, SFD_CLOEXEC);
	return s->signal_fd < 0 ? -errno : 0;
}

static int open_log(Sim *s)
{
	if (!s->options.log_path)
		return 0;
	s->log = fopen(s->options.log_path, "ae");
	return s->log ? 0 : log_error_errno(errno, "Cannot write %s", s->options.log_path);
}

static int sim_open(Sim *s, const char *drive)
{
	int r = drive_load(drive, &s->drive);

	if (r < 0)
		return r;
	if (s->options.model)
		snprintf(s->drive.model, sizeof(s->drive.model), "%s", s->options.model);
	drive_scale(&s->drive, s->options.scale);
	TAILQ_INIT(&s->waiting);
	TAILQ_INIT(&s->jobs);
	energy_start(&s->energy, now_ns());
	r = make_disk(s);
	if (r >= 0)
		r = open_log(s);
	if (r >= 0)
		r = open_signals(s);
	if (r >= 0)
		r = tcp_listen(s);
	if (r >= 0)
		r = control_listen(s);
	if (r >= 0)
		features_reset(s);
	return r;
}

static void sim_close(Sim *s)
{
	tcp_close_all(s, NULL, "quit");
	tcp_reap(s);
	jobs_free(&s->waiting);
	jobs_free(&s->jobs);
	control_close(s);
	closep(&s->listen_fd);
	closep(&s->signal_fd);
	fclosep(&s->log);
	if (s->disk)
		(void)munmap(s->disk, s->options.size_bytes);
}

static uint64_t next_event_ns(const Sim *s)
{
	uint64_t next;

	if (s->hung)
		return NEVER;
	next = MIN(io_next_ns(s), power_next_ns(s));
	return s->measurement.on ? MIN(next, s->measurement.next_ns) : next;
}

static int wait_for_events(const Sim *s, struct pollfd *fds, nfds_t n)
{
	uint64_t next = next_event_ns(s), now = now_ns(), wait = next > now ? next - now : 0;
	struct timespec timeout = { (time_t)(wait / NSEC_PER_SEC), (long)(wait % NSEC_PER_SEC) };

	if (ppoll(fds, n, next == NEVER ? NULL : &timeout, NULL) < 0 && errno != EINTR)
		return log_error_errno(errno, "poll");
	return 0;
}

/* A hung controller neither answers nor accepts; its control socket does. */
static nfds_t fill_fds(const Sim *s, struct pollfd *fds)
{
	nfds_t n = 0;

	fds[n++] = (struct pollfd){ .fd = s->signal_fd, .events = POLLIN };
	fds[n++] = (struct pollfd){ .fd = s->control_fd, .events = POLLIN };
	fds[n++] = (struct pollfd){ .fd = s->hung ? -1 : s->listen_fd, .events = POLLIN };
	for (unsigned i = 0; i < CONTROL_CLIENTS; i++)
		fds[n++] = (struct pollfd){ .fd = s->clients[i].fd, .events = POLLIN };
	for (const Conn *c = s->hung ? NULL : s->conns; c && n < FDS_MAX; c = conn_next(c))
		fds[n++] = (struct pollfd){
			.fd = conn_fd(c),
			.events = (short)(POLLIN | (conn_wants_write(c) ? POLLOUT : 0)),
		};
	return n;
}

/* Connections stay in the list until tcp_reap(), in the order in which fill_fds() saw them; new
 * ones are put in front, after this. */
static void handle(Sim *s, const struct pollfd *fds, nfds_t n)
{
	nfds_t i = 3 + CONTROL_CLIENTS;

	for (Conn *c = s->hung ? NULL : s->conns; c && i < n; c = conn_next(c), i++)
		if (fds[i].revents)
			conn_service(s, c, fds[i].revents);
	for (unsigned k = 0; k < CONTROL_CLIENTS; k++)
		if (fds[3 + k].revents && s->clients[k].fd >= 0)
			control_service(s, &s->clients[k]);
	if (fds[0].revents)
		s->quit = true;
	if (fds[1].revents)
		control_accept(s);
	if (fds[2].revents)
		tcp_accept(s);
}

static int sim_run(Sim *s)
{
	struct pollfd fds[FDS_MAX];
	int r = 0;

	while (!s->quit && r >= 0) {
		nfds_t n = fill_fds(s, fds);

		r = wait_for_events(s, fds, n);
		if (r < 0)
			break;
		handle(s, fds, n);
		if (!s->hung) {
			io_pump(s);
			power_tick(s);
			measurement_tick(s);
		}
		tcp_reap(s);
	}
	return r;
}

static int simulate(const Options *o, const char *drive)
{
	_cleanup_free_ Sim *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return log_oom();
	s->options = *o;
	s->listen_fd = s->control_fd = s->signal_fd = -1;
	for (unsigned i = 0; i < CONTROL_CLIENTS; i++)
		s->clients[i].fd = -1;
	r = sim_open(s, drive);
	if (r >= 0) {
		printf("%s on 127.0.0.1:%u as %s\n", s->drive.model, s->options.port, o->nqn);
		fflush(stdout);
		r = sim_run(s);
	}
	sim_close(s);
	return r;
}

int main(int argc, char **argv)
{
	Options o = {
		.nqn = "nqn.2026-01.org.storpower:sim",
		.serial = "SIM0001",
		.port = 4420,
		.queues = 4,
		.size_bytes = 256ULL * 1024 * 1024,
		.scale = 1,
		.in_capsule_bytes = IO_MAX_BYTES,
		.limit_dword = 11,
	};
	Arguments a = { 0 };
	int option;

	while ((option = getopt_long(argc, argv, "", long_options, NULL)) >= 0)
		if (read_option(option, &o, &a) < 0)
			return 2;
	if (a.help) {
		fputs(help, stdout);
		return 0;
	}
	if (a.send ? optind != argc - 1 : optind != argc || !a.drive) {
		fputs(help, stderr);
		return 2;
	}
	return a.send ? control_send(a.send, argv[optind]) : simulate(&o, a.drive) < 0;
}
