/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* storpowerctl calibrate: what is asked, and all that is looked at before anything is measured. */

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/sysfs.h"
#include "ctl/calibrate-drive.h"
#include "ctl/calibrate-grid.h"
#include "ctl/calibrate-progress.h"
#include "ctl/calibrate-real.h"
#include "ctl/words.h"

#define SYSFS   "/sys"
#define SEED    20250623 /* any number, as long as it stays the same */
#define WARM_UP 3        /* rounds */
#define MOST    60
#define SURE    0.01

#define METER_TRIES   10
#define METER_WAIT_US (500 * USEC_PER_MSEC)

typedef struct Session {
	Ctl *ctl;
	Calibration c;
	ProfileStore *store; /* of the profiles so far */
	RealRig rig;
	char path[CALIBRATE_TEXT + 8]; /* "/dev/nvme0n1" */
	char *profile, *state;         /* files */
	int door;                      /* keeps others away while it is written to */
} Session;

static void session_done(Session *s)
{
	calibrate_real_rig_done(&s->rig);
	calibration_done(&s->c);
	if (s->store)
		profile_store_free(s->store);
	free(s->profile);
	free(s->state);
	if (s->door >= 0)
		close(s->door);
	if (s->rig.signals >= 0)
		close(s->rig.signals);
}

static int find_drive(Session *s)
{
	const char *argument = s->ctl->args[0];
	char name[CALIBRATE_TEXT] = "";
	int r = calibrate_find_block(SYSFS, argument, name);

	if (r == -ENOTUNIQ)
		return complain(STATUS_REFUSED,
				"%s has several namespaces: name the one to measure, such as %sn1",
				argument, base_name(argument));
	if (r < 0)
		return complain(STATUS_REFUSED, "\"%s\" is no block device of this machine",
				argument);
	calibrate_identify(SYSFS, name, &s->c.subject);
	snprintf(s->path, sizeof(s->path), "/dev/%s", name);
	return STATUS_OK;
}

/* "nvme0n1" is the daemon's "nvme0". */
static json_object *find_daemons(json_object *devices, const char *block)
{
	json_object *d = ctl_find_device(devices, block);
	char controller[CALIBRATE_TEXT];
	size_t n = strlen(block);

	if (d)
		return d;
	while (n > 0 && isdigit((unsigned char)block[n - 1]))
		n--;
	snprintf(controller, sizeof(controller), "%.*s", n > 0 ? (int)n - 1 : 0, block);
	return ctl_find_device(devices, controller);
}

static int check_daemon(json_object *state)
{
	if (*json_text(state, "Simulated"))
		return complain(STATUS_REFUSED,
				"The devices of this storpowerd are simulated: there "
				"is nothing to measure");
	if (calibrate_is_limited(state, 0))
		return complain(
			STATUS_REFUSED,
			"A limit is in force, so that the drive would not do what it can: "
			"storpowerctl list --claims tells whose it is; calibrate when it has "
			"ended");
	return STATUS_OK;
}

static int take_meter(Session *s, json_object *devices, json_object *device)
{
	CalibrateSubject *subject = &s->c.subject;

	if (!calibrate_find_meter(device, &s->rig.meter))
		return complain(
			STATUS_REFUSED,
			"No sensor measures the watts of %s: put one in storpower.conf(5), a "
			"[sensor] section with of = device %s, or one of its group or of the "
			"node",
			json_text(device, "Name"), json_text(device, "Name"));
	snprintf(subject->sensor, sizeof(subject->sensor), "%s", s->rig.meter.sensor);
	subject->sensor_error = calibrate_meter_error(&s->rig.meter, devices);
	if (s->rig.meter.shared)
		printf("Sensor \"%s\" measures other devices as well: what their models say is taken "
		       "off.\nLeave them alone meanwhile.\n",
		       subject->sensor);
	return STATUS_OK;
}

/* A sensor's first reading comes seconds after the daemon has started. */
static int find_sensed(Session *s, json_object **ret_devices, json_object **ret)
{
	for (unsigned tries = 0;; tries++) {
		_cleanup_json_ json_object *devices = NULL;
		int status = ctl_get_devices(s->ctl, &devices);
		CalibrateMeter meter;

		if (status)
			return status;
		*ret = find_daemons(devices, s->c.subject.name);
		if (!*ret || calibrate_find_meter(*ret, &meter) || tries == METER_TRIES) {
			*ret_devices = TAKE_PTR(devices);
			return STATUS_OK;
		}
		usleep(METER_WAIT_US);
	}
}

static int meet_daemon(Session *s)
{
	_cleanup_json_ json_object *state = NULL, *devices = NULL;
	json_object *device;
	int status = ctl_get_known_state(s->ctl, &state);

	if (!status)
		status = check_daemon(state);
	if (!status)
		status = find_sensed(s, &devices, &device);
	if (status)
		return status;
	if (!device)
		return complain(STATUS_REFUSED,
				"storpowerd does not know %s: storpowerctl list names its devices",
				s->c.subject.name);
	if (s->ctl->calibrate.destructive && *json_text(device, "ProtectedReason"))
		return complain(STATUS_REFUSED, "%s is not written to: it is protected: %s",
				json_text(device, "Name"), json_text(device, "ProtectedReason"));
	return take_meter(s, devices, device);
}

static int open_door(Session *s)
{
	const CalibrateDoor d = { SYSFS, s->c.subject.name, s->path, s->c.subject.serial,
				  s->ctl->calibrate.destructive };
	_cleanup_free_ char *why = NULL;
	int r;

	if (!d.destructive) {
		if (calibrate_is_in_use(s->path))
			puts("It is in use: what others do with it disturbs, and is disturbed.");
		puts("Only reads are measured: --destructive=SERIAL would measure writes as well, and "
		     "destroy\nall that it holds. Blocks that were never written read faster and for "
		     "fewer watts than\nwritten ones.");
		return STATUS_OK;
	}
	r = calibrate_open_for_writing(&d, &s->door, &why);
	if (r == -EPERM)
		return complain(STATUS_REFUSED,
				"%s is not written to: %s. Without --destructive reads alone are "
				"measured, which is safe",
				s->c.subject.name, why);
	return r < 0 ? complain(STATUS_FAILURE, "%s: %s", s->path, strerror(-r)) : STATUS_OK;
}

/* Those that serve IO. Without nvme(1), or without a daemon that holds a state, as it is found. */
static void fill_states(Session *s)
{
	CalibrateSubject *subject = &s->c.subject;
	DesignGrid *g = &s->c.plan.grid;
	const char *why = NULL;
	int r = subject->kind == KIND_NVME ? calibrate_ask_states(subject) : -ENODEV;

	for (unsigned i = 0; r >= 0 && i < subject->n_states; i++)
		if (subject->states[i].present && subject->states[i].operational)
			g->states[g->n_states++] = (int)i;
	if (r == -ENOENT)
		why = "nvme(1) is not installed to ask for them";
	else if (g->n_states > 1 &&
		 calibrate_pin(s->ctl, s->rig.meter.device, g->states[0], &s->rig.cookie))
		why = "storpowerd does not hold one";
	if (why || g->n_states <= 1) {
		g->n_states = 1;
		g->states[0] = 0;
		subject->n_states = 0;
	}
	if (why)
		printf("Power states other than the one in force are not measured: %s.\n", why);
}

static void make_plan(Session *s)
{
	CalibratePlan *p = &s->c.plan;

	p->goal = (DesignGoal){ s->ctl->calibrate.goal, s->ctl->calibrate.goal,
				s->ctl->calibrate.runs };
	p->seed = SEED;
	p->warm_up = WARM_UP;
	p->most = MOST;
	p->sure = SURE;
	calibrate_grid_fill(s->c.subject.kind, s->ctl->calibrate.destructive, &p->grid);
	fill_states(s);
}

/* "SAMSUNG MZWLJ3T8" as "samsung-mzwlj3t8.profile" */
static char *file_name_of(const char *model)
{
	char name[CALIBRATE_TEXT] = "";
	size_t n = 0;

	for (const char *c = model; *c; c++)
		if (isalnum((unsigned char)*c))
			name[n++] = (char)tolower((unsigned char)*c);
		else if (n > 0 && name[n - 1] != '-')
			name[n++] = '-';
	while (n > 0 && name[n - 1] == '-')
		n--;
	return text_printf("%.*s.profile", n > 0 ? (int)n : 5, n > 0 ? name : "drive");
}

static int find_files(Session *s)
{
	int r;

	s->profile =
		s->ctl->n_args > 1 ? strdup(s->ctl->args[1]) : file_name_of(s->c.subject.model);
	s->state = s->profile ? text_printf("%s.calibration", s->profile) : NULL;
	if (!s->state)
		return complain(STATUS_FAILURE, "Out of memory");
	if (!s->ctl->calibrate.resume) {
		if (access(s->state, F_OK) == 0)
			return complain(
				STATUS_REFUSED,
				"%s is of a calibration that was begun: --resume goes on with "
				"it, or remove it",
				s->state);
		return STATUS_OK;
	}
	r = calibrate_state_read(&s->c, s->state);
	if (r == -ESTALE)
		return complain(STATUS_REFUSED,
				"%s is of another drive, firmware, sensor or set of settings",
				s->state);
	if (r < 0)
		return complain(STATUS_FAILURE, "%s: %s: there is nothing to go on with", s->state,
				strerror(-r));
	printf("%zu points are there already\n", s->c.n_points);
	return STATUS_OK;
}

static int find_fio(Session *s)
{
	CalibrateSubject *subject = &s->c.subject;
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	struct utsname kernel;
	int r = fio_version(subject->fio);

	if (r < 0)
		return complain(STATUS_FAILURE, "fio cannot be run: %s: install it", strerror(-r));
	r = fio_engine(s->path, &s->rig.job.engine);
	if (r < 0)
		return complain(STATUS_FAILURE, "fio cannot read %s directly: are you root?",
				s->path);
	if (uname(&kernel) == 0) {
		snprintf(subject->kernel, sizeof(subject->kernel), "%s", kernel.release);
		calibrate_who(ctl_user(), kernel.nodename, subject);
	}
	s->rig.job.path = s->path;
	s->rig.job.processors = (unsigned)MAX(processors, 1L);
	return STATUS_OK;
}

static int catch_signals(Session *s)
{
	static const int signals[] = { SIGHUP, SIGINT, SIGTERM };
	sigset_t mask;

	sigemptyset(&mask);
	for (size_t i = 0; i < ELEMENTSOF(signals); i++)
		sigaddset(&mask, signals[i]);
	if (sigprocmask(SIG_BLOCK, &mask, NULL) == 0)
		s->rig.signals = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	return s->rig.signals < 0
		       ? complain(STATUS_FAILURE, "Signals cannot be caught: %s", strerror(errno))
		       : STATUS_OK;
}

/* A store that cannot be read is no reason not to measure. */
static void find_known(Session *s)
{
	_cleanup_(strv_freep) char **directories = NULL;

	if (profile_store_directories(NULL, NULL, &directories) >= 0 &&
	    profile_store_read((const char *const *)directories, &s->store) >= 0)
		s->c.known = profile_store_match(s->store, s->c.subject.model);
}

static int prepare(Session *s)
{
	int status = calibrate_grid_parse(&s->ctl->calibrate, &s->c.plan.grid);

	if (!status)
		status = find_drive(s);
	if (!status)
		status = meet_daemon(s);
	if (!status)
		status = open_door(s);
	if (!status)
		status = find_fio(s);
	if (!status)
		status = catch_signals(s);
	if (status)
		return status;
	find_known(s);
	make_plan(s);
	return find_files(s);
}

static int explain_end(const Session *s, int r)
{
	const char *again = s->c.n_points > 0 ? ": --resume goes on with what was measured" : "";

	if (r == -EINTR)
		return complain(STATUS_FAILURE, "Interrupted%s", again);
	if (r == -EBUSY)
		return complain(STATUS_REFUSED, "A limit came into force%s", again);
	if (r == -ENODATA)
		return complain(STATUS_FAILURE, "The sensor \"%s\" tells nothing any more%s",
				s->c.subject.sensor, again);
	return complain(STATUS_FAILURE, "It cannot be measured: %s%s", strerror(-r), again);
}

static int measure(Session *s)
{
	const Ctl *c = s->ctl;
	ProgressBar bar = { &s->c, c->escapes, c->width };
	const Rig rig = calibrate_real_rig(&s->rig);
	int r = calibrate_run(&rig, &s->c, s->state, progress_tell, &bar);

	progress_end(&bar);
	return r < 0 ? explain_end(s, r) : calibrate_write(c, &s->c, s->profile);
}

int verb_calibrate(Ctl *c)
{
	Session s = { .ctl = c,
		      .c = { .idle_w = NAN },
		      .rig = { .ctl = c, .signals = -EBADF },
		      .door = -EBADF };
	int status;

	log_set_plain();
	if (c->calibrate.import)
		return calibrate_import_file(c);
	if (c->n_args < 1)
		return complain(STATUS_USAGE, "Usage: storpowerctl calibrate DEVICE [FILE]");
	status = prepare(&s);
	if (!status)
		status = measure(&s);
	session_done(&s);
	return status;
}
