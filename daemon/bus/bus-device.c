/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "base/printable.h"
#include "bus/bus-internal.h"

int bus_device_path(const char *name, char **ret_path)
{
	return sd_bus_path_encode(BUS_DEVICE_PREFIX, name, ret_path);
}

static int find_device(sd_bus *bus, const char *path, const char *interface, void *userdata,
		       void **ret_found, sd_bus_error *error)
{
	Bus *b = userdata;
	_cleanup_free_ char *name = NULL;
	int r = sd_bus_path_decode(path, BUS_DEVICE_PREFIX, &name);

	(void)bus, (void)interface, (void)error;
	if (r <= 0)
		return r;
	control_note_asked(b->control);
	r = control_device_by_name(b->control, name, &b->device);
	if (r >= 0)
		r = control_reading(b->control, name, &b->reading);
	if (r >= 0)
		r = control_energy(b->control, name, &b->energy);
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	*ret_found = b;
	return 1;
}

static int enumerate_devices(sd_bus *bus, const char *prefix, void *userdata, char ***ret_nodes,
			     sd_bus_error *error)
{
	Bus *b = userdata;
	size_t n = control_device_count(b->control);
	_cleanup_(strv_freep) char **paths = calloc(n + 1, sizeof(*paths));
	int r = 0;

	(void)bus, (void)prefix, (void)error;
	if (!paths)
		return -ENOMEM;
	for (size_t i = 0; i < n && r >= 0; i++)
		r = bus_device_path(control_device_at(b->control, i)->name, &paths[i]);
	if (r < 0)
		return r;
	*ret_nodes = TAKE_PTR(paths);
	return 0;
}

const char *bus_advised_text(char *buf, size_t size, const DeviceState *d)
{
	char setting[128];

	*buf = '\0';
	if (d->advised)
		snprintf(buf, size, "%s: %s",
			 setting_text(setting, sizeof(setting), &d->advised->setting),
			 plan_reason_text(d->advised->reason));
	return buf;
}

static const char *device_text(const DeviceState *d, const char *property, char *buf, size_t size)
{
	const struct {
		const char *property, *text;
	} texts[] = {
		{ "Name", d->device->name },
		{ "Id", d->device->id },
		{ "Node", d->device->node },
		{ "Stack", d->device->stack },
		{ "Model", d->device->model },
		{ "Kind", kind_name(d->device->kind) },
		{ "Group", d->device->group },
		{ "Profile", d->device->profile ? d->device->profile->name : "" },
		{ "ProtectedReason", d->device->protected_why },
		{ "Condition", condition_name(d->setting.condition) },
		{ "Exactness", exactness_name(d->exactness) },
		{ "Problem", d->problem },
		{ "Reason", d->reason },
		{ "Pool", d->device->pool },
		{ "Protection", d->device->protection },
		{ "Hba", d->device->hba },
		{ "AwakeReason", d->sleep.awake_why },
		{ "Redirect", bus_redirect_name(d->cache.redirect) },
	};

	if (streq(property, "Setting"))
		return setting_text(buf, size, &d->setting);
	if (streq(property, "Advised"))
		return bus_advised_text(buf, size, d);
	for (size_t i = 0; i < ELEMENTSOF(texts); i++)
		if (streq(texts[i].property, property))
			return texts[i].text ?: "";
	return NULL;
}

static int get_text(sd_bus *bus, const char *path, const char *interface, const char *property,
		    sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
	Bus *b = userdata;
	char buf[256];
	const char *text = device_text(&b->device, property, buf, sizeof(buf));
	_cleanup_free_ char *shown = text ? printable_copy(text) : NULL;

	(void)bus, (void)path, (void)interface, (void)error;
	if (!shown)
		return text ? -ENOMEM : -ENODATA;
	return sd_bus_message_append(reply, "s", shown);
}

static int get_flag(sd_bus *bus, const char *path, const char *interface, const char *property,
		    sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
	Bus *b = userdata;
	const DeviceState *d = &b->device;
	int flag;

	(void)bus, (void)path, (void)interface, (void)error;
	if (streq(property, "LinkSaving"))
		flag = d->setting.link != LINK_AS_FOUND;
	else if (streq(property, "WakeUntested"))
		flag = d->device->wake_untested;
	else
		flag = !d->device->profile || d->device->profile->estimated;
	return sd_bus_message_append(reply, "b", flag);
}

/* The bytes that its cache holds back, or could; UINT64_MAX where no cache is known. */
static int get_cache(sd_bus *bus, const char *path, const char *interface, const char *property,
		     sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
	Bus *b = userdata;
	const DeviceState *d = &b->device;
	bool room = streq(property, "CacheRoom");

	(void)bus, (void)path, (void)interface, (void)error;
	if (!d->cache.known)
		return sd_bus_message_append(reply, "t", room ? UINT64_MAX : UINT64_C(0));
	return sd_bus_message_append(reply, "t", room ? d->cache.room_bytes : d->cache.dirty_bytes);
}

static int get_size(sd_bus *bus, const char *path, const char *interface, const char *property,
		    sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
	Bus *b = userdata;

	(void)bus, (void)path, (void)interface, (void)property, (void)error;
	return sd_bus_message_append(reply, "t", b->device.device->size_bytes);
}

/* A knob's value may be a path. */
static int append_knob(sd_bus_message *m, const KnobState *k)
{
	_cleanup_free_ char *why_not = printable_copy(k->why_not ?: "");
	_cleanup_free_ char *original = printable_copy(k->original ?: "");
	_cleanup_free_ char *wanted = printable_copy(k->wanted ?: "");

	if (!why_not || !original || !wanted)
		return -ENOMEM;
	return sd_bus_message_append(
		m, "a{sv}", 7, "Name", "s", k->name, "Mechanism", "s", mechanism_name(k->mechanism),
		"Exactness", "s", exactness_name(k->exactness), "Offered", "b", (int)k->offered,
		"WhyNot", "s", why_not, "Original", "s", original, "Wanted", "s", wanted);
}

static int get_knobs(sd_bus *bus, const char *path, const char *interface, const char *property,
		     sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
	Bus *b = userdata;
	_cleanup_free_ KnobState *knobs = NULL;
	size_t n;
	int r = control_knobs(b->control, b->device.device->name, &knobs, &n);

	(void)bus, (void)path, (void)interface, (void)property, (void)error;
	if (r >= 0)
		r = sd_bus_message_open_container(reply, 'a', "a{sv}");
	for (size_t i = 0; r >= 0 && i < n; i++)
		r = append_knob(reply, &knobs[i]);
	return r < 0 ? r : sd_bus_message_close_container(reply);
}

static int append_learned(sd_bus_message *m, const LearnedState *l)
{
	char setting[128];

	return sd_bus_message_append(
		m, "a{sv}", 3, "Setting", "s", setting_text(setting, sizeof(setting), &l->setting),
		"Throughput", "d", l->mb_s, "ModelThroughput", "d", l->model_mb_s);
}

static int get_learned(sd_bus *bus, const char *path, const char *interface, const char *property,
		       sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
	Bus *b = userdata;
	LearnedState l;
	int r = sd_bus_message_open_container(reply, 'a', "a{sv}");

	(void)bus, (void)path, (void)interface, (void)property, (void)error;
	for (size_t i = 0;
	     r >= 0 && control_learned(b->control, b->device.device->name, i, &l) == 0; i++)
		r = append_learned(reply, &l);
	return r < 0 ? r : sd_bus_message_close_container(reply);
}

#define CONST         SD_BUS_VTABLE_PROPERTY_CONST
#define CHANGES       SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE
#define DEVICE(field) offsetof(Bus, device.field)
#define ENERGY(field) offsetof(Bus, energy.field)

static const sd_bus_vtable device_vtable[] = {
	SD_BUS_VTABLE_START(0),
	SD_BUS_PROPERTY("Name", "s", get_text, 0, CONST),
	SD_BUS_PROPERTY("Id", "s", get_text, 0, CONST),
	SD_BUS_PROPERTY("Node", "s", get_text, 0, CONST),
	SD_BUS_PROPERTY("Model", "s", get_text, 0, CONST),
	SD_BUS_PROPERTY("Kind", "s", get_text, 0, CONST),
	SD_BUS_PROPERTY("Group", "s", get_text, 0, CONST),
	SD_BUS_PROPERTY("Profile", "s", get_text, 0, CONST),
	SD_BUS_PROPERTY("ProfileEstimated", "b", get_flag, 0, CONST),
	SD_BUS_PROPERTY("Stack", "s", get_text, 0, 0),
	SD_BUS_PROPERTY("ProtectedReason", "s", get_text, 0, 0),
	SD_BUS_PROPERTY("RatedPower", "d", NULL, DEVICE(watts.rated_w), CONST),
	SD_BUS_PROPERTY("OperatingPower", "d", NULL, DEVICE(watts.operating_w), CHANGES),
	SD_BUS_PROPERTY("IdlePower", "d", NULL, DEVICE(watts.idle_w), CONST),
	SD_BUS_PROPERTY("CapPower", "d", NULL, DEVICE(watts.cap_w), CHANGES),
	SD_BUS_PROPERTY("EstimatedPower", "d", NULL, DEVICE(watts.estimated_w), 0),
	SD_BUS_PROPERTY("MeasuredPower", "d", NULL, DEVICE(watts.measured_w), 0),
	SD_BUS_PROPERTY("SensedPower", "d", NULL, offsetof(Bus, reading.watts), 0),
	SD_BUS_PROPERTY("SensedPowerError", "d", NULL, offsetof(Bus, reading.error_w), 0),
	SD_BUS_PROPERTY("SensedBy", "s", NULL, offsetof(Bus, reading.sensor), 0),
	SD_BUS_PROPERTY("SensedOf", "s", NULL, offsetof(Bus, reading.of), 0),
	SD_BUS_PROPERTY("Throughput", "d", NULL, DEVICE(load.mb_s), 0),
	SD_BUS_PROPERTY("ExpectedThroughput", "d", NULL, DEVICE(planned.mb_s), 0),
	SD_BUS_PROPERTY("FullThroughput", "d", NULL, DEVICE(planned.full_mb_s), 0),
	SD_BUS_PROPERTY("P99", "d", NULL, DEVICE(planned.p99_us), 0),
	SD_BUS_PROPERTY("Demand", "d", NULL, DEVICE(load.demand_mb_s), 0),
	SD_BUS_PROPERTY("IOPS", "d", NULL, DEVICE(load.iops), 0),
	SD_BUS_PROPERTY("Depth", "d", NULL, DEVICE(load.depth), 0),
	SD_BUS_PROPERTY("MeanSize", "d", NULL, DEVICE(load.mean_kib), 0),
	SD_BUS_PROPERTY("ReadShare", "d", NULL, DEVICE(load.read_share), 0),
	SD_BUS_PROPERTY("RandomShare", "d", NULL, DEVICE(load.random_share), 0),
	SD_BUS_PROPERTY("Latency", "d", NULL, DEVICE(load.latency_us), 0),
	SD_BUS_PROPERTY("WaitP50", "d", NULL, DEVICE(load.wait_p50_us), 0),
	SD_BUS_PROPERTY("WaitP99", "d", NULL, DEVICE(load.wait_p99_us), 0),
	SD_BUS_PROPERTY("WaitP50Before", "d", NULL, DEVICE(load.wait_p50_before_us), 0),
	SD_BUS_PROPERTY("WaitP99Before", "d", NULL, DEVICE(load.wait_p99_before_us), 0),
	SD_BUS_PROPERTY("Setting", "s", get_text, 0, CHANGES),
	SD_BUS_PROPERTY("PowerState", "i", NULL, DEVICE(setting.power_state), CHANGES),
	SD_BUS_PROPERTY("PowerLimit", "d", NULL, DEVICE(setting.limit_w), CHANGES),
	SD_BUS_PROPERTY("Condition", "s", get_text, 0, CHANGES),
	SD_BUS_PROPERTY("LinkSaving", "b", get_flag, 0, CHANGES),
	SD_BUS_PROPERTY("DepthLimit", "u", NULL, DEVICE(setting.depth), CHANGES),
	SD_BUS_PROPERTY("ChunkLimit", "u", NULL, DEVICE(setting.chunk_kib), CHANGES),
	SD_BUS_PROPERTY("Pace", "d", NULL, DEVICE(setting.pace_w), CHANGES),
	SD_BUS_PROPERTY("Exactness", "s", get_text, 0, CHANGES),
	SD_BUS_PROPERTY("Reason", "s", get_text, 0, CHANGES),
	SD_BUS_PROPERTY("Advised", "s", get_text, 0, CHANGES),
	SD_BUS_PROPERTY("Problem", "s", get_text, 0, CHANGES),
	SD_BUS_PROPERTY("Asleep", "b", bus_get_bool, DEVICE(sleep.asleep), CHANGES),
	SD_BUS_PROPERTY("Changing", "b", bus_get_bool, DEVICE(changing), CHANGES),
	SD_BUS_PROPERTY("Pool", "s", get_text, 0, 0),
	SD_BUS_PROPERTY("Protection", "s", get_text, 0, 0),
	SD_BUS_PROPERTY("SizeBytes", "t", get_size, 0, 0),
	SD_BUS_PROPERTY("Hba", "s", get_text, 0, CONST),
	SD_BUS_PROPERTY("AwakeReason", "s", get_text, 0, 0),
	SD_BUS_PROPERTY("MaySleepIn", "d", NULL, DEVICE(sleep.may_in_s), 0),
	SD_BUS_PROPERTY("WakeUntested", "b", get_flag, 0, CHANGES),
	SD_BUS_PROPERTY("StartsLeft", "d", NULL, DEVICE(sleep.starts_left), 0),
	SD_BUS_PROPERTY("StartsPerDay", "d", NULL, DEVICE(sleep.starts_a_day), 0),
	SD_BUS_PROPERTY("LoadsLeft", "d", NULL, DEVICE(sleep.loads_left), 0),
	SD_BUS_PROPERTY("LoadsPerDay", "d", NULL, DEVICE(sleep.loads_a_day), 0),
	SD_BUS_PROPERTY("StartsUsed", "t", NULL, DEVICE(sleep.starts_used), 0),
	SD_BUS_PROPERTY("Redirect", "s", get_text, 0, CHANGES),
	SD_BUS_PROPERTY("CacheDirty", "t", get_cache, 0, 0),
	SD_BUS_PROPERTY("CacheRoom", "t", get_cache, 0, 0),
	SD_BUS_PROPERTY("CacheMisses", "d", NULL, DEVICE(cache.missed), 0),
	SD_BUS_PROPERTY("Meter", "s", NULL, DEVICE(meter), 0),
	SD_BUS_PROPERTY("Knobs", "aa{sv}", get_knobs, 0, 0),
	SD_BUS_PROPERTY("Learned", "aa{sv}", get_learned, 0, 0),
	SD_BUS_PROPERTY("EnergyMeasured", "d", NULL, ENERGY(measured_j), 0),
	SD_BUS_PROPERTY("EnergyModelled", "d", NULL, ENERGY(modelled_j), 0),
	SD_BUS_PROPERTY("BytesRead", "t", NULL, ENERGY(bytes[READ_IO]), 0),
	SD_BUS_PROPERTY("BytesWritten", "t", NULL, ENERGY(bytes[WRITE_IO]), 0),
	SD_BUS_PROPERTY("Reads", "t", NULL, ENERGY(ios[READ_IO]), 0),
	SD_BUS_PROPERTY("Writes", "t", NULL, ENERGY(ios[WRITE_IO]), 0),
	SD_BUS_VTABLE_END,
};

int bus_device_register(Bus *b)
{
	int r = sd_bus_add_object_manager(b->bus, NULL, BUS_PATH);

	if (r >= 0)
		r = sd_bus_add_node_enumerator(b->bus, NULL, BUS_DEVICE_PREFIX, enumerate_devices,
					       b);
	if (r >= 0)
		r = sd_bus_add_fallback_vtable(b->bus, NULL, BUS_DEVICE_PREFIX, BUS_DEVICE,
					       device_vtable, find_device, b);
	return r;
}
