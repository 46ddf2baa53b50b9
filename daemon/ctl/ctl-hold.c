/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <systemd/sd-event.h>

#include "base/clock.h"
#include "ctl/ctl.h"

/* The claim is owner-bound: however this process ends, it ends with it. */

static const int forwarded[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGCONT };

#define LOOK_AGAIN_US    USEC_PER_SEC        /* for the bus and the daemon */
#define AFTER_REFUSAL_US (30 * USEC_PER_SEC) /* each refusal is printed */

typedef struct Hold {
	Ctl *ctl;
	sd_event *event;
	sd_event_source *retry;
	pid_t pid;
	uint64_t cookie;           /* 0: lost */
	uint64_t start_us, end_us; /* boot time; 0: now, never */
} Hold;

static int claim(Hold *h)
{
	_cleanup_message_ sd_bus_message *call = NULL, *reply = NULL;
	int status = ctl_new_claim(h->ctl, h->ctl->args[0], false, &call);

	if (!status)
		status = ctl_call(h->ctl, call, &reply);
	if (!status && sd_bus_message_read(reply, "t", &h->cookie) < 0)
		status = complain(STATUS_FAILURE, "SetBudget: the reply is not a cookie");
	return status;
}

static uint64_t left_until(uint64_t at_us, uint64_t now_us)
{
	return at_us > now_us ? at_us - now_us : 0;
}

static bool time_is_over(const Hold *h)
{
	return h->end_us && h->end_us <= clock_now_us(&clock_boottime);
}

/* Makes the claim again for what is left of its time. */
static int claim_again(Hold *h)
{
	uint64_t now = clock_now_us(&clock_boottime);
	int status;

	h->ctl->start_in_us = left_until(h->start_us, now);
	h->ctl->for_us = left_until(h->end_us, MAX(h->start_us, now));
	status = claim(h);
	if (!status)
		complain(0, "storpowerd is back: limited again, claim %llu",
			 (unsigned long long)h->cookie);
	return status;
}

static void retry_in(Hold *h, uint64_t us)
{
	if (sd_event_source_set_time_relative(h->retry, us) < 0 ||
	    sd_event_source_set_enabled(h->retry, SD_EVENT_ONESHOT) < 0)
		complain(0, "Nothing is limited any more, and it cannot be tried again");
}

static void lose(Hold *h, const char *what)
{
	if (!time_is_over(h))
		complain(0, "%s has gone: nothing is limited until it is back", what);
	h->cookie = 0;
	retry_in(h, LOOK_AGAIN_US);
}

/* The claim may outlive the daemon's restart; made again, it takes its own place. */
static int on_owner_changed(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	Hold *h = userdata;
	const char *name, *old, *new;

	(void)error;
	if (sd_bus_message_read(m, "sss", &name, &old, &new) < 0)
		return 0;
	if (*old && h->cookie)
		lose(h, "storpowerd");
	if (*new && !h->cookie)
		retry_in(h, 0);
	return 0;
}

static int on_disconnected(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	(void)m, (void)error;
	lose(userdata, "The bus");
	return 0;
}

static int attach_bus(Hold *h)
{
	int r = sd_bus_attach_event(h->ctl->bus, h->event, SD_EVENT_PRIORITY_NORMAL);

	if (r >= 0)
		r = sd_bus_match_signal(h->ctl->bus, NULL, NULL, "/org/freedesktop/DBus/Local",
					"org.freedesktop.DBus.Local", "Disconnected",
					on_disconnected, h);
	return r < 0 ? r : ctl_match_daemon(h->ctl, on_owner_changed, h);
}

static bool daemon_is_there(Hold *h)
{
	if (!h->ctl->bus || sd_bus_is_open(h->ctl->bus) <= 0) {
		ctl_disconnect(h->ctl);
		if (ctl_connect(h->ctl) < 0)
			return false;
		if (attach_bus(h) < 0) {
			ctl_disconnect(h->ctl);
			return false;
		}
	}
	return sd_bus_get_name_creds(h->ctl->bus, BUS_NAME, 0, NULL) >= 0;
}

static int on_retry(sd_event_source *s, uint64_t usec, void *userdata)
{
	Hold *h = userdata;

	(void)s, (void)usec;
	if (h->cookie || time_is_over(h))
		return 0;
	if (!daemon_is_there(h))
		retry_in(h, LOOK_AGAIN_US);
	else if (claim_again(h))
		retry_in(h, AFTER_REFUSAL_US);
	return 0;
}

static int on_signal(sd_event_source *s, const struct signalfd_siginfo *si, void *userdata)
{
	Hold *h = userdata;

	(void)s;
	/* what a terminal sends goes to the whole foreground group, COMMAND included */
	if (si->ssi_code == SI_KERNEL)
		return 0;
	kill(h->pid, (int)si->ssi_signo);
	return 0;
}

/* Leaving the bus would end the claim too; this way it has ended before our caller goes on. The
 * event loop closes the bus when it ends, so it is done here. False: it was lost. A claim that
 * somebody else has ended is not. */
static bool release(Hold *h)
{
	int status;

	if (time_is_over(h))
		return true;
	if (!h->cookie)
		return false;
	status = ctl_simple_call(h->ctl, NULL, "Release", "t", h->cookie);
	return !status || status == STATUS_REFUSED;
}

static int on_child(sd_event_source *s, const siginfo_t *si, void *userdata)
{
	Hold *h = userdata;
	int status = si->si_code == CLD_EXITED ? si->si_status : 128 + si->si_status;

	if (!release(h))
		status = complain(STATUS_NOT_HELD,
				  "The limit was lost and not in force when the command ended, "
				  "with status %d",
				  status);
	return sd_event_exit(sd_event_source_get_event(s), status);
}

static int watch(Hold *h, const sigset_t *mask)
{
	int r = sigprocmask(SIG_BLOCK, mask, NULL) < 0 ? -errno : 0;

	for (size_t i = 0; i < ELEMENTSOF(forwarded) && r >= 0; i++)
		r = sd_event_add_signal(h->event, NULL, forwarded[i], on_signal, h);
	if (r >= 0)
		r = sd_event_add_time(h->event, &h->retry, CLOCK_BOOTTIME, 0, 0, on_retry, h);
	if (r >= 0)
		r = sd_event_source_set_enabled(h->retry, SD_EVENT_OFF);
	return r < 0 ? r : attach_bus(h);
}

static void run_command(char **args, const sigset_t *old_mask)
{
	int status;

	sigprocmask(SIG_SETMASK, old_mask, NULL);
	execvp(args[0], args);
	status = errno == ENOENT ? STATUS_NOT_FOUND : STATUS_CANNOT_RUN;
	complain(status, "Cannot run \"%s\": %s", args[0], strerror(errno));
	_exit(status);
}

static int hold_while_running(Hold *h, char **args)
{
	_cleanup_(sd_event_unrefp) sd_event *event = NULL;
	sigset_t mask, old_mask;
	int r;

	sigemptyset(&mask);
	sigaddset(&mask, SIGCHLD);
	for (size_t i = 0; i < ELEMENTSOF(forwarded); i++)
		sigaddset(&mask, forwarded[i]);
	sigprocmask(SIG_SETMASK, NULL, &old_mask);
	r = sd_event_new(&event);
	h->event = event;
	if (r >= 0)
		r = watch(h, &mask);
	if (r < 0)
		return complain(STATUS_FAILURE, "Cannot watch the command: %s", strerror(-r));
	h->pid = fork();
	if (h->pid < 0)
		return complain(STATUS_FAILURE, "Cannot fork: %s", strerror(errno));
	if (h->pid == 0)
		run_command(args, &old_mask);
	r = sd_event_add_child(event, NULL, h->pid, WEXITED, on_child, h);
	if (r >= 0)
		r = sd_event_loop(event);
	return r < 0 ? complain(STATUS_FAILURE, "Cannot watch the command: %s", strerror(-r)) : r;
}

int verb_hold(Ctl *c)
{
	uint64_t now = clock_now_us(&clock_boottime), start = now + c->start_in_us;
	Hold h = { .ctl = c,
		   .start_us = c->start_in_us ? start : 0,
		   .end_us = c->for_us ? start + c->for_us : 0 };
	int status = claim(&h);

	if (!status)
		status = hold_while_running(&h, c->args + 1);
	sd_event_source_unref(h.retry);
	return status;
}
