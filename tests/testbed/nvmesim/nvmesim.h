/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* An NVMe drive of several power states as an NVMe/TCP controller on loopback, for the kernel's own
 * host driver. One thread and one poll loop, so nothing needs a lock; everything hangs on Sim. */

#include <endian.h>
#include <stdio.h>
#include <string.h>
#include <sys/queue.h>
#include <time.h>

#include "base/cleanup.h"

#include "nvmesim-drive.h"

#define IO_MAX_BYTES  (1u << 20) /* MDTS 8: 2^8 pages of 4 KiB */
#define SECTOR_BYTES  512u
#define NSEC_PER_SEC  1000000000ULL
#define NSEC_PER_MSEC 1000000ULL
#define NEVER         UINT64_MAX

/* Status codes; NVMe base specification, "Status Code" */
enum {
	OK = 0,
	INVALID_OPCODE = 0x01,
	INVALID_FIELD = 0x02,
	INVALID_NAMESPACE = 0x0b,
	SGL_LENGTH_INVALID = 0x0f,
	LBA_OUT_OF_RANGE = 0x80,
	INVALID_LOG_PAGE = 0x109,
	INVALID_POWER_LIMIT = 0x13e,
	CONNECT_INVALID_PARAMETERS = 0x182,
};

enum {
	FEATURE_POWER_STATE = 0x02,
	FEATURE_POWER_LIMIT = 0x23,
	FEATURE_OCP_WATTS = 0xc7,
};

typedef struct Sim Sim;
typedef struct Conn Conn;
typedef struct Job Job;
typedef struct Feature Feature;

typedef struct Command {
	Conn *conn; /* NULL once its connection is gone */
	uint8_t sqe[64];
	uint64_t arrived_ns;
} Command;

/* Something that ends at a known time. */
struct Job {
	TAILQ_ENTRY(Job) link;
	uint64_t due_ns;
	void (*done)(Sim *, Job *); /* owns the job */
	Command command;
	/* of an IO */
	unsigned direction;
	uint64_t offset;
	uint32_t bytes;
	/* of Set Features */
	const Feature *feature;
	uint32_t value;
	bool effective;
};
typedef TAILQ_HEAD(JobList, Job) JobList;

/* nvmesim-energy.c: joules since the start, and the mean of the last second. */
#define ENERGY_BUCKETS    100
#define ENERGY_BUCKET_NS  (20 * NSEC_PER_MSEC)
#define HISTOGRAM_BINS    128
#define HISTOGRAM_BIN_MW  250 /* NVMe 2.3: shall be 250 */
#define MEASUREMENT_BYTES (64 + 8 * HISTOGRAM_BINS)

typedef struct Energy {
	double joules;
	uint64_t start_ns, last_ns;
	uint64_t newest; /* number of the newest bucket since boot */
	double bucket_j[ENERGY_BUCKETS];
} Energy;

typedef struct Measurement {
	bool on;
	uint8_t generation;
	uint64_t next_ns;
	uint32_t count;
	double sum_w, max_w;
	uint32_t bins[HISTOGRAM_BINS], overflow;
} Measurement;

/* What a test asked to go wrong with one feature. */
typedef enum FaultMode { FAULT_NONE, FAULT_IGNORE, FAULT_LIE } FaultMode;
typedef struct Fault {
	FaultMode mode;
	uint16_t refuse; /* status; 0 accepts */
	uint64_t slow_ns;
	bool lied; /* reads back `shown` */
	uint32_t shown;
} Fault;

typedef struct Counters {
	uint64_t ios[DIRECTIONS], bytes[DIRECTIONS];
	uint64_t commands; /* admin */
	uint64_t sets;     /* successful Set Features of power */
	uint64_t saved;    /* Set Features with the save bit */
	uint64_t connects, resets, wakes;
	unsigned depth_max;
} Counters;

typedef struct Options {
	const char *nqn, *serial, *model, *log_path, *control_path;
	unsigned port, queues;
	uint64_t size_bytes;
	double scale;
	unsigned in_capsule_bytes;
	unsigned limit_dword; /* of Set Features 23h: 11 or 13 */
	bool limit, measurement, ocp, apst, no_self_report;
} Options;

#define CONTROL_CLIENTS 8
#define CONTROL_LINE    256
typedef struct ControlClient {
	int fd; /* -1: free */
	size_t n;
	char line[CONTROL_LINE];
} ControlClient;

struct Sim {
	Options options;
	Drive drive;
	uint8_t *disk;

	int listen_fd, control_fd, signal_fd;
	FILE *log;
	ControlClient clients[CONTROL_CLIENTS];
	Conn *conns;
	bool hung, quit;

	uint32_t cc, csts;

	/* power */
	unsigned ps, last_operational, hint;
	double limit_w, ocp_w; /* 0: none */
	uint32_t limit_raw, ocp_raw;
	uint64_t ready_ns; /* no IO before, the drive is waking */
	uint64_t idle_since_ns;
	bool apst_on;
	uint64_t apst[DRIVE_STATES_MAX];

	/* other features */
	uint32_t async_events, keep_alive_ms, over_k, under_k;
	uint32_t saved_value[256];
	Fault faults[256];

	/* IO */
	JobList waiting, jobs; /* jobs by due time */
	unsigned in_service, depth;
	uint64_t pipe_free_ns, unit_free_ns;
	uint64_t draws; /* of random latencies, so far */

	Energy energy;
	Measurement measurement;
	Counters counters;
};

static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * NSEC_PER_SEC + (uint64_t)t.tv_nsec;
}

static inline uint64_t now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

static inline uint16_t get16(const uint8_t *p)
{
	return (uint16_t)(p[0] | p[1] << 8);
}

static inline uint32_t get32(const uint8_t *p)
{
	return get16(p) | (uint32_t)get16(p + 2) << 16;
}

static inline uint64_t get64(const uint8_t *p)
{
	return get32(p) | (uint64_t)get32(p + 4) << 32;
}

static inline void put16(uint8_t *p, uint16_t v)
{
	p[0] = (uint8_t)v;
	p[1] = (uint8_t)(v >> 8);
}

static inline void put32(uint8_t *p, uint32_t v)
{
	put16(p, (uint16_t)v);
	put16(p + 2, (uint16_t)(v >> 16));
}

static inline void put64(uint8_t *p, uint64_t v)
{
	put32(p, (uint32_t)v);
	put32(p + 4, (uint32_t)(v >> 32));
}

/* Command dwords 10 to 15. */
static inline uint32_t cdw(const Command *c, unsigned n)
{
	return get32(c->sqe + 4 * n);
}

/* nvmesim-tcp.c: connections and PDUs */
int tcp_listen(Sim *s);
void tcp_accept(Sim *s);
int conn_fd(const Conn *c);
Conn *conn_next(const Conn *c);
unsigned conn_queue(const Conn *c);
void conn_set_queue(Conn *c, unsigned qid);
bool conn_wants_write(const Conn *c);
/* Reads or writes what can be without blocking; a broken connection is closed by tcp_reap(). */
void conn_service(Sim *s, Conn *c, short revents);
void conn_close(Sim *s, Conn *c, const char *why);
void tcp_close_all(Sim *s, const Conn *but, const char *why);
void tcp_reap(Sim *s);
/* Answers with data for a status of 0; admin commands are logged. Dead connections get nothing. */
void command_reply(Sim *s, const Command *c, uint16_t status, uint64_t result, const void *data,
		   size_t n);
/* The bytes that the host expects or sends. */
static inline uint32_t command_length(const Command *c)
{
	return get32(c->sqe + 32);
}

/* nvmesim-admin.c, nvmesim-identify.c */
void fabrics_command(Sim *s, const Command *c, const uint8_t *data, size_t n);
void admin_command(Sim *s, const Command *c, const uint8_t *data, size_t n);
void identify(Sim *s, const Command *c);

/* nvmesim-features.c */
void features_set(Sim *s, const Command *c, const uint8_t *data, size_t n);
void features_get(Sim *s, const Command *c);
void features_reset(Sim *s);

/* nvmesim-pages.c */
void log_page(Sim *s, const Command *c);

/* nvmesim-power.c */
double power_cap_w(const Sim *s);
/* What it draws without IO. */
double power_idle_w(const Sim *s);
uint64_t power_transition_ns(const Sim *s, unsigned ps);
void power_enter(Sim *s, unsigned ps, const char *why);
/* An IO arrives: leaves a non-operational state. */
void power_wake(Sim *s);
/* When the drive goes to a lower state by itself (APST); NEVER. */
uint64_t power_next_ns(const Sim *s);
void power_tick(Sim *s);

/* nvmesim-io.c */
void io_command(Sim *s, const Command *c, const uint8_t *data, size_t n);
/* Starts what can start by now. */
void io_pump(Sim *s);
uint64_t io_next_ns(const Sim *s);
void job_add(Sim *s, Job *j);
/* Forgets a connection that is being closed. */
void jobs_orphan(Sim *s, const Conn *c);
void jobs_free(JobList *l);

/* nvmesim-energy.c */
void energy_start(Energy *e, uint64_t now);
/* Accounts for the idle draw up to now; before every change of it. */
void energy_advance(Sim *s);
void energy_add_io(Sim *s, double joules);
double energy_watts(Sim *s);
void measurement_set(Sim *s, bool on);
void measurement_tick(Sim *s);
/* Log 25h; MEASUREMENT_BYTES. */
void measurement_page(const Sim *s, uint8_t *page);
/* Value and scale as in a power state descriptor: bits 15:0 of 10 mW, scale 2. */
uint32_t watts_field(double watts);

/* nvmesim-log.c */
void log_command(Sim *s, const Command *c, uint16_t status);
void log_event(Sim *s, const char *format, ...) _printf_(2, 3);

/* nvmesim-control.c */
int control_listen(Sim *s);
void control_accept(Sim *s);
void control_service(Sim *s, ControlClient *client);
void control_close(Sim *s);
/* nvmesim-commands.c: one line; prints the answer; -EINVAL with a sentence in the answer. */
int control_command(Sim *s, char *line, FILE *answer);
/* nvmesim-send.c: the client; returns its exit status. */
int control_send(const char *path, const char *line);
