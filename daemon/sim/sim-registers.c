/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sim/sim-registers.h"

#include <errno.h>

const char *const sim_scheduler_names[_SIM_SCHEDULER_MAX] = {
	[SIM_NONE] = "none",
	[SIM_MQ_DEADLINE] = "mq-deadline",
	[SIM_KYBER] = "kyber",
	[SIM_BFQ] = "bfq",
};

/* ata_lpm_policy_names[] of drivers/ata/libata-sata.c. */
const char *const sim_link_names[_SIM_LINK_MAX] = {
	[SIM_LINK_MAX_PERFORMANCE] = "max_performance",
	[SIM_LINK_MEDIUM_POWER] = "medium_power",
	[SIM_LINK_MED_POWER_WITH_DIPM] = "med_power_with_dipm",
	[SIM_LINK_MIN_POWER_WITH_PARTIAL] = "min_power_with_partial",
	[SIM_LINK_MIN_POWER] = "min_power",
};

const char *const sim_cache_mode_names[_SIM_CACHE_MODE_MAX] = {
	[SIM_CACHE_WRITETHROUGH] = "writethrough",
	[SIM_CACHE_WRITEBACK] = "writeback",
	[SIM_CACHE_WRITEAROUND] = "writearound",
	[SIM_CACHE_NONE] = "none",
};

/* NVMe: MDTS of 2 MiB. Disks: the 32767 KiB of libata with LBA48. */
unsigned sim_max_hw_sectors_kb(DeviceKind kind)
{
	return kind == KIND_NVME ? 2048 : 32767;
}

unsigned sim_tags(DeviceKind kind)
{
	return kind == KIND_NVME ? 1023 : 64;
}

/* What blk-mq makes of nr_requests when the scheduler changes: twice min(tags, 128) for a
 * scheduler, the device's tags without one. */
static uint64_t default_nr_requests(SimScheduler s, DeviceKind kind)
{
	return s == SIM_NONE ? sim_tags(kind) : 256;
}

/* Sets the kernel's defaults, but for the mode, which an operator chose. */
static void init_cache(uint64_t *value)
{
	value[SIM_CACHE_MODE] = SIM_CACHE_WRITEBACK;
	value[SIM_WRITEBACK_RUNNING] = 1;
	value[SIM_WRITEBACK_PERCENT] = 10;
	value[SIM_WRITEBACK_DELAY] = 30;
	value[SIM_SEQUENTIAL_CUTOFF] = 4 << 20;
	value[SIM_CONGESTED_READ] = 2000;
	value[SIM_CONGESTED_WRITE] = 20000;
}

void sim_registers_init(SimRegisters *r, DeviceKind kind)
{
	*r = (SimRegisters){ 0 };
	r->value[SIM_NR_REQUESTS] = default_nr_requests(SIM_NONE, kind);
	r->value[SIM_MAX_SECTORS_KB] = kind == KIND_NVME ? 2048 : 1280;
	r->value[SIM_QUEUE_DEPTH] = 32;
	init_cache(r->value);
	sim_cost_init(&r->cost, kind);
}

void sim_registers_apply(SimRegisters *r, const SimChange *c, DeviceKind kind)
{
	if (c->reg == SIM_COST) {
		r->cost = c->cost;
		return;
	}
	if (c->reg == SIM_SCHEDULER && r->value[SIM_SCHEDULER] != c->value) {
		r->value[SIM_NR_REQUESTS] = default_nr_requests((SimScheduler)c->value, kind);
		r->value[SIM_STRICT_GUARANTEES] = 0;
	}
	r->value[c->reg] = c->value;
}

bool sim_registers_valid(const SimRegisters *r)
{
	return r->value[SIM_POWER_STATE] <= 0xff && r->value[SIM_POWER_LIMIT] < 1 << 18 &&
	       r->value[SIM_CONDITION] < _CONDITION_MAX && r->value[SIM_LINK] < _SIM_LINK_MAX &&
	       r->value[SIM_SCHEDULER] < _SIM_SCHEDULER_MAX &&
	       r->value[SIM_CACHE_MODE] < _SIM_CACHE_MODE_MAX &&
	       r->value[SIM_WRITEBACK_RUNNING] <= 1 &&
	       r->value[SIM_WRITEBACK_PERCENT] <= SIM_CACHE_CUTOFF_PERCENT;
}

/* Units of the power limit scale, as of the active power scale: 1 = 0.1 mW, 2 = 10 mW. */
int sim_power_limit_watts(uint32_t cdw11, double *ret_w)
{
	static const double unit_w[] = { 0, 1e-4, 1e-2 };
	unsigned scale = cdw11 >> 16 & 3;

	if (cdw11 >> 18 || scale >= ELEMENTSOF(unit_w) || (scale == 0 && cdw11))
		return -EINVAL;
	*ret_w = (cdw11 & 0xffff) * unit_w[scale];
	return 0;
}

static void print_cost(const SimCost *c, const Device *d, FILE *f)
{
	static const char *const files[] = { "io.cost.model", "io.cost.qos" };
	char line[512];

	/* The kernel cannot forget a line once it is written, so a disabled one counts as none. */
	if (!c->enabled)
		return;
	for (size_t i = 0; i < ELEMENTSOF(files); i++)
		if (sim_cost_print(c, files[i], line, sizeof(line)) == 0)
			fprintf(f, "%s %s %s\n", d->name, files[i], line);
}

int sim_registers_print(const SimRegisters *r, const Device *d, FILE *f)
{
	const uint64_t *v = r->value;

	if (d->kind == KIND_NVME) {
		fprintf(f, "%s feature-02h 0x%x\n", d->name, (unsigned)v[SIM_POWER_STATE]);
		fprintf(f, "%s feature-23h 0x%x\n", d->name, (unsigned)v[SIM_POWER_LIMIT]);
	} else {
		fprintf(f, "%s condition %s\n", d->name,
			condition_name((Condition)v[SIM_CONDITION]));
		fprintf(f, "%s link %s\n", d->name, sim_link_names[v[SIM_LINK]]);
		fprintf(f, "%s queue_depth %u\n", d->name, (unsigned)v[SIM_QUEUE_DEPTH]);
	}
	fprintf(f, "%s scheduler %s\n", d->name, sim_scheduler_names[v[SIM_SCHEDULER]]);
	fprintf(f, "%s nr_requests %u\n", d->name, (unsigned)v[SIM_NR_REQUESTS]);
	fprintf(f, "%s max_sectors_kb %u\n", d->name, (unsigned)v[SIM_MAX_SECTORS_KB]);
	fprintf(f, "%s strict_guarantees %u\n", d->name, (unsigned)v[SIM_STRICT_GUARANTEES]);
	print_cost(&r->cost, d, f);
	return ferror(f) ? -EIO : 0;
}

int sim_registers_print_cache(const SimRegisters *r, const Device *d, FILE *f)
{
	static const struct {
		const char *name;
		SimRegister reg;
	} numbers[] = {
		{ "writeback_running", SIM_WRITEBACK_RUNNING },
		{ "writeback_percent", SIM_WRITEBACK_PERCENT },
		{ "writeback_delay", SIM_WRITEBACK_DELAY },
		{ "sequential_cutoff", SIM_SEQUENTIAL_CUTOFF },
		{ "congested_read_threshold_us", SIM_CONGESTED_READ },
		{ "congested_write_threshold_us", SIM_CONGESTED_WRITE },
	};

	fprintf(f, "%s cache_mode %s\n", d->name, sim_cache_mode_names[r->value[SIM_CACHE_MODE]]);
	for (size_t i = 0; i < ELEMENTSOF(numbers); i++)
		fprintf(f, "%s %s %llu\n", d->name, numbers[i].name,
			(unsigned long long)r->value[numbers[i].reg]);
	return ferror(f) ? -EIO : 0;
}
