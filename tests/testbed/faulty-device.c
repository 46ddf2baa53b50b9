/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "faulty-device.h"

#include <errno.h>
#include <string.h>

static FaultyDevice *faulty(const Device *d)
{
	return (FaultyDevice *)d->ops;
}

static bool concerns(const FaultyDevice *f, const char *name)
{
	return !f->of || strstr(name, f->of);
}

static void hang(FaultyDevice *f)
{
	uint64_t us = f->hang_us;

	if (!us)
		return;
	f->hanging++;
	clock_sleep_us(f->clock, us);
	f->hanging--;
}

static int before_write(FaultyDevice *f, const char *name)
{
	if (!concerns(f, name))
		return 0;
	if (f->n_writes < FAULTY_WRITES_KEPT)
		f->wrote_us[f->n_writes] = clock_now_us(f->clock);
	f->n_writes++;
	if (!f->late)
		hang(f);
	if (f->blind)
		f->unseen = true;
	return f->refuse ? -EIO : 0;
}

static int after_write(FaultyDevice *f, const char *name, int r)
{
	if (r >= 0 && f->late && concerns(f, name))
		hang(f);
	return r;
}

static int before_read(const FaultyDevice *f, const char *name)
{
	return f->blind && f->unseen && concerns(f, name) ? -EIO : 0;
}

static int after_read(const FaultyDevice *f, const char *name, int r)
{
	if (f->read_us && concerns(f, name))
		clock_sleep_us(f->clock, f->read_us);
	return r;
}

static int faulty_attr_read(Device *d, const char *attr, char *buf, size_t size)
{
	int r = before_read(faulty(d), attr);

	if (r >= 0)
		r = faulty(d)->healthy->attr_read(d, attr, buf, size);
	return after_read(faulty(d), attr, r);
}

static int faulty_attr_write(Device *d, const char *attr, const char *value)
{
	int r = before_write(faulty(d), attr);

	if (r >= 0)
		r = faulty(d)->healthy->attr_write(d, attr, value);
	return after_write(faulty(d), attr, r);
}

static int faulty_feature_get(Device *d, uint8_t feature, uint32_t *ret)
{
	return after_read(faulty(d), "feature", faulty(d)->healthy->feature_get(d, feature, ret));
}

static int faulty_feature_set(Device *d, uint8_t feature, uint32_t value)
{
	int r = before_write(faulty(d), "feature");

	if (r >= 0)
		r = faulty(d)->healthy->feature_set(d, feature, value);
	return after_write(faulty(d), "feature", r);
}

static int faulty_condition_get(Device *d, Condition *ret)
{
	return after_read(faulty(d), "condition", faulty(d)->healthy->condition_get(d, ret));
}

static int faulty_condition_set(Device *d, Condition c)
{
	int r = before_write(faulty(d), "condition");

	if (r >= 0)
		r = faulty(d)->healthy->condition_set(d, c);
	return after_write(faulty(d), "condition", r);
}

static int faulty_cgroup_read(Device *d, const char *file, char *buf, size_t size)
{
	int r = before_read(faulty(d), file);

	if (r >= 0)
		r = faulty(d)->healthy->cgroup_read(d, file, buf, size);
	return after_read(faulty(d), file, r);
}

static int faulty_cgroup_write(Device *d, const char *file, const char *line)
{
	int r = before_write(faulty(d), file);

	if (r >= 0)
		r = faulty(d)->healthy->cgroup_write(d, file, line);
	return after_write(faulty(d), file, r);
}

static int faulty_counters(Device *d, DeviceCounters *ret)
{
	return after_read(faulty(d), "counters", faulty(d)->healthy->counters(d, ret));
}

void faulty_device_wrap(FaultyDevice *f, Device *d, const Clock *clock)
{
	*f = (FaultyDevice){ .ops = *d->ops, .healthy = d->ops, .clock = clock };
	if (f->ops.attr_read)
		f->ops.attr_read = faulty_attr_read;
	if (f->ops.attr_write)
		f->ops.attr_write = faulty_attr_write;
	if (f->ops.feature_get)
		f->ops.feature_get = faulty_feature_get;
	if (f->ops.feature_set)
		f->ops.feature_set = faulty_feature_set;
	if (f->ops.condition_get)
		f->ops.condition_get = faulty_condition_get;
	if (f->ops.condition_set)
		f->ops.condition_set = faulty_condition_set;
	if (f->ops.cgroup_read)
		f->ops.cgroup_read = faulty_cgroup_read;
	if (f->ops.cgroup_write)
		f->ops.cgroup_write = faulty_cgroup_write;
	if (f->ops.counters)
		f->ops.counters = faulty_counters;
	d->ops = &f->ops;
}
