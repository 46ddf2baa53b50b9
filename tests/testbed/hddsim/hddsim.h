/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* hddsim: a hard disk behind the kernel's SCSI target (TCM user), so that the host's own sd, sg and
 * udev drive it. It keeps the time and the energy of a real one: conditions are entered and left in
 * their times, IO to a disk at rest wakes it, and every joule is accounted. */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>

#include "base/cleanup.h"
#include "base/clock.h"

struct tcmu_mailbox;

#define BLOCK_BYTES 512U
#define SENSE_BYTES 96U
#define CDB_BYTES   16U

/* From lightest to deepest sleep. SLEEP is ATA's, STOPPED is SCSI's. */
typedef enum Condition {
	CONDITION_ACTIVE,
	CONDITION_IDLE_A,
	CONDITION_IDLE_B,
	CONDITION_IDLE_C,
	CONDITION_STANDBY_Y,
	CONDITION_STANDBY_Z,
	CONDITION_SLEEP,
	CONDITION_STOPPED,
	CONDITIONS,
} Condition;

#define CONDITION_TIMED_END CONDITION_SLEEP /* idle_a to standby_z have timers */

typedef struct ConditionSpec {
	double watts; /* of CONDITION_ACTIVE: turning and ready, no IO */
	uint64_t enter_us, recovery_us;
} ConditionSpec;

typedef struct Options {
	const char *name;
	const char *model, *serial;
	const char *backing_path, *log_path, *control_path;
	bool sas, epc, apm;
	uint64_t size_bytes, seek_us;
	double mb_s;
	double read_w, write_w, spin_up_w;
	ConditionSpec conditions[CONDITIONS];
	unsigned long start_stops, load_unloads; /* of its life before */
} Options;

/* In units of 100 ms, as the drive's own registers. */
typedef struct Timer {
	bool enabled;
	uint32_t value;
} Timer;

typedef enum TimerSet { TIMERS_CURRENT, TIMERS_DEFAULT, TIMERS_SAVED, TIMER_SETS } TimerSet;

typedef struct Faults {
	bool refuse[CONDITIONS]; /* commands to that condition fail */
	bool ignore;             /* power commands succeed and do nothing */
	uint64_t no_wake_us;     /* IO to a spun-down disk fails after this; 0: off */
	uint64_t slow_wake_us;   /* added to every recovery */
} Faults;

/* The power-condition state machine. Time comes from outside and never goes back. */
typedef struct State {
	const Options *options;
	Faults faults;
	Condition condition; /* it is in, or is leaving */
	Condition target;    /* it goes to; the same when settled */
	bool moving;
	uint64_t moving_until_us;
	bool by_timer;    /* how it came there */
	bool timers_held; /* a command chose the condition; until the next IO */
	uint64_t idle_since_us;
	Timer timers[TIMER_SETS][CONDITIONS];
	double serving_w; /* while an IO is served, else 0 */
	uint64_t started_us, accounted_us;
	uint64_t spin_up_us, spun_up_us; /* the last: from, until; 0: never */
	double joules;
	uint64_t asleep_us;
	unsigned long wakes, spin_ups, stops, unloads, resets;
} State;

typedef enum Mechanics {
	MECHANICS_NONE,
	MECHANICS_READ,
	MECHANICS_WRITE,
	MECHANICS_POWER
} Mechanics;

/* One SCSI command, from its fetch to its completion. */
typedef struct Command {
	struct Command *next;
	uint16_t id;
	uint8_t cdb[CDB_BYTES];
	uint8_t status;
	uint8_t sense[SENSE_BYTES];
	uint32_t data_bytes; /* put into the buffers */
	bool ata;            /* an ATA PASS-THROUGH */
	bool check_condition;
	uint8_t ata_count; /* what comes back in the count field */
	/* what the arm or the spindle has to do */
	Mechanics mechanics;
	bool begun;
	uint64_t arrived_us, done_us; /* done_us only when begun */
	uint64_t block;
	uint32_t blocks;
	bool fails; /* at done_us */
	Condition target;
	bool immediate, holds_timers;
	unsigned n_iov;
	struct iovec iov[];
} Command;

typedef struct Ring {
	int fd;
	struct tcmu_mailbox *mailbox;
	size_t size;
	uint32_t fetched;             /* up to here the commands were taken */
	bool has_read_len, completed; /* since the kernel was told */
} Ring;

typedef struct Sim {
	Options options;
	State state;
	Ring ring;
	uint64_t now_us;
	Command *queue, **queue_end; /* for the mechanics, first in first out */
	unsigned queued;
	uint64_t next_block, free_us; /* where the arm is, since when */
	bool write_cache, epc_enabled;
	uint8_t apm; /* 0: disabled */
	unsigned long reads, writes;
	int backing_fd, control_fd;
	FILE *log;
	char disk[32]; /* "sda", when it is there */
	bool quit;
} Sim;

/* hddsim-options.c */
int options_parse(Options *o, int argc, char *argv[]); /* 1: help was asked for and given */
uint64_t name_hash(const Options *o);                  /* 36 bits, the last digit is 0 */

/* hddsim-state.c */
const char *condition_name(Condition c);
int condition_parse(const char *name, Condition *ret);
void state_init(State *s, const Options *o, uint64_t now_us);
double state_watts(const State *s);
void state_account(State *s, uint64_t now_us);
void state_serve(State *s, double watts, uint64_t now_us); /* 0: the IO is over */
void state_move(State *s, Condition target, bool by_timer, uint64_t now_us);
void state_settle(State *s, uint64_t now_us);
/* When a timer sends a settled disk deeper; USEC_NEVER when none will. */
uint64_t state_timer_us(const State *s, Condition *ret_target);
bool state_spun_down(const State *s);
/* Comes out of ATA SLEEP by a reset, which leaves it in standby. */
void state_reset(State *s);

/* hddsim-mechanics.c */
void mechanics_submit(Sim *s, Command *c);
uint64_t mechanics_next_us(const Sim *s);
void mechanics_advance(Sim *s, uint64_t now_us);

/* hddsim-command.c: answers */
void command_put(Command *c, const void *data, size_t size);
size_t command_get(const Command *c, void *data, size_t size);
void command_fail(Command *c, uint8_t key, uint8_t code, uint8_t qualifier);
void command_complete(Sim *s, Command *c); /* and frees it */
void command_log(Sim *s, const char *format, ...) _printf_(2, 3);
/* Queues IO for the arm; false (and failed) when beyond the end. 0 blocks only wake the disk. */
bool command_media(Sim *s, Command *c, Mechanics what, uint64_t block, uint32_t blocks);
/* Queues a change of condition; false (and not failed) when a fault refuses it. */
bool command_power(Sim *s, Command *c, Condition target, bool holds_timers);

/* hddsim-scsi.c: what is left without mechanics is complete on return. */
void scsi_execute(Sim *s, Command *c);

/* hddsim-pages.c */
void scsi_inquiry(Sim *s, Command *c);
void scsi_log_sense(Sim *s, Command *c);

/* hddsim-mode.c */
void scsi_mode_sense(Sim *s, Command *c);
void scsi_mode_select(Sim *s, Command *c);

/* hddsim-ata.c, hddsim-epc.c, hddsim-identify.c */
typedef struct AtaTask {
	uint8_t command, feature;
	uint16_t count;
	uint64_t lba;
} AtaTask;

void ata_execute(Sim *s, Command *c);
void ata_abort(Command *c);
void ata_return(Command *c, uint8_t error, uint8_t status); /* the status return descriptor */
void ata_epc(Sim *s, Command *c, const AtaTask *t);
void ata_epc_enable(Sim *s, bool enable);
void ata_power_conditions_log(const Sim *s, uint8_t pages[2 * BLOCK_BYTES]);
void ata_identify(const Sim *s, uint8_t page[BLOCK_BYTES]);

/* hddsim-configfs.c */
int configfs_make(const Options *o);   /* the backing store */
int configfs_attach(const Options *o); /* the disk; its probe's commands must be served meanwhile */
int configfs_remove(const Options *o); /* all; likewise */
bool configfs_disk(const Options *o, char *name, size_t size); /* false: not there yet */

/* hddsim-tcmu.c */
int ring_open(Ring *r, const char *name);
void ring_close(Ring *r);
int ring_fetch(Ring *r, Command **ret); /* 1: a command; 0: none left */
void ring_complete(Ring *r, const Command *c);
void ring_acknowledge(Ring *r);
void ring_notify(Ring *r);

/* hddsim-control.c */
int control_listen(const char *path, int *ret_fd);
void control_serve(Sim *s);
int control_send(const char *path, const char *line); /* the exit status */

static inline void put_be16(uint8_t *p, uint16_t v)
{
	p[0] = v >> 8;
	p[1] = v & 0xff;
}

static inline void put_be32(uint8_t *p, uint32_t v)
{
	put_be16(p, v >> 16);
	put_be16(p + 2, v & 0xffff);
}

static inline void put_be64(uint8_t *p, uint64_t v)
{
	put_be32(p, v >> 32);
	put_be32(p + 4, v & 0xffffffff);
}

static inline uint16_t get_be16(const uint8_t *p)
{
	return p[0] << 8 | p[1];
}

static inline uint32_t get_be32(const uint8_t *p)
{
	return (uint32_t)get_be16(p) << 16 | get_be16(p + 2);
}

static inline uint64_t get_be64(const uint8_t *p)
{
	return (uint64_t)get_be32(p) << 32 | get_be32(p + 4);
}

static inline void put_le32(uint8_t *p, uint32_t v)
{
	for (unsigned i = 0; i < 4; i++)
		p[i] = v >> 8 * i & 0xff;
}
