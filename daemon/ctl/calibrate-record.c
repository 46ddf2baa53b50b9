/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ctl/calibrate-record.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/text.h"

#define PREFIX "STORPOWER_"
#define MATCH  "block:*:name:"
#define FWREV  ":fwrev:"

static const char *const io_names[_DIRECTION_MAX][_PATTERN_MAX] = {
	{ "READ_RANDOM", "READ_SEQUENTIAL" },
	{ "WRITE_RANDOM", "WRITE_SEQUENTIAL" },
};

/* What would be a glob stands for itself, as far as it can. */
static void print_literal(FILE *f, const char *text)
{
	for (; *text; text++)
		fputc(strchr("*[]\\", *text) ? '?' : *text, f);
}

/* The model of a profile is a glob, as that of a record. udev has "_" where a drive's model has a
 * space (ID_MODEL, by which systemd's 90-iocost.rules looks a drive up); "?" is either. */
static void print_model(FILE *f, const char *glob)
{
	for (; *glob; glob++)
		fputc(*glob == ' ' ? '?' : *glob, f);
}

static void print_us(FILE *f, const char *name, double us)
{
	if (us > 0)
		fprintf(f, " %s=%.0fus", name, us);
}

static void print_states(FILE *f, const Profile *p)
{
	for (unsigned i = 0; i < p->n_states; i++) {
		const PowerState *s = &p->states[i];

		if (!s->present)
			continue;
		fprintf(f, " " PREFIX "STATE_%u=%.6gW", i, s->max_w);
		print_us(f, "entry", s->entry_us);
		print_us(f, "exit", s->exit_us);
		fprintf(f, "%s%s\n", s->operational ? "" : " operational=no",
			s->estimated ? " estimated=yes" : "");
	}
}

static void print_upper(FILE *f, const char *text)
{
	for (; *text; text++)
		fputc(toupper((unsigned char)*text), f);
}

static void print_condition(FILE *f, const char *name, const ConditionPower *c)
{
	fputs(" " PREFIX "CONDITION_", f);
	print_upper(f, name);
	fprintf(f, "=%.6gW", c->watts);
	print_us(f, "enter", 1e6 * c->enter_s);
	print_us(f, "recovery", 1e6 * c->recovery_s);
	print_us(f, "wake_time", 1e6 * c->wake_s);
	if (c->wake_w > 0)
		fprintf(f, " wake_watts=%.6gW", c->wake_w);
	fputs(c->estimated ? " estimated=yes\n" : "\n", f);
}

/* What the vendor promises, and which figures nobody has measured. */
static void print_sheet(FILE *f, const Profile *p)
{
	static const char *const directions[_DIRECTION_MAX] = { "READ", "WRITE" };
	char figures[64];

	if (p->sheet.interface != INTERFACE_UNKNOWN)
		fprintf(f, " " PREFIX "INTERFACE=%s\n", interface_name(p->sheet.interface));
	for (Direction d = 0; d < _DIRECTION_MAX; d++) {
		if (p->sheet.mb_s[d] > 0)
			fprintf(f, " " PREFIX "%s_MB_S=%.6g\n", directions[d], p->sheet.mb_s[d]);
		if (p->sheet.iops[d] > 0)
			fprintf(f, " " PREFIX "%s_IOPS=%.7g\n", directions[d], p->sheet.iops[d]);
	}
	if (p->estimated_figures)
		fprintf(f, " " PREFIX "ESTIMATED=%s\n",
			figures_text(figures, sizeof(figures), p->estimated_figures));
}

/* Without these the drive would never be put to sleep where the record is imported. */
static void print_idling(FILE *f, const Profile *p)
{
	if (p->rated_cycles_start > 0)
		fprintf(f, " " PREFIX "CYCLES=%.0f\n", p->rated_cycles_start);
	if (p->link_saving_w > 0)
		fprintf(f, " " PREFIX "LINK_SAVING=%.6gW\n", p->link_saving_w);
	if (p->link_recovery_s > 0)
		fprintf(f, " " PREFIX "LINK_RECOVERY=%.0fus\n", 1e6 * p->link_recovery_s);
	for (Condition c = CONDITION_IDLE_A; c < _CONDITION_MAX; c++)
		if (p->conditions[c].present)
			print_condition(f, condition_name(c), &p->conditions[c]);
}

static void print_energies(FILE *f, const Profile *p)
{
	for (Direction d = 0; d < _DIRECTION_MAX; d++)
		for (Pattern t = 0; t < _PATTERN_MAX; t++)
			fprintf(f,
				" " PREFIX "ENERGY_%s_IO=%.6guJ\n"
				" " PREFIX "ENERGY_%s_PAGE=%.6guJ\n",
				io_names[d][t], 1e6 * p->energy[d][t].io_j, io_names[d][t],
				1e6 * p->energy[d][t].page_j);
	fprintf(f, " " PREFIX "ENERGY_ERROR=%.4g%%\n", 100 * p->energy_error);
}

static void print_emerald(FILE *f, const Emerald *e)
{
	if (e->ready_idle_gb_w > 0)
		fprintf(f, " " PREFIX "EMERALD_READY_IDLE_GB_W=%.6g\n", e->ready_idle_gb_w);
	for (EmeraldLoad l = 0; l < _EMERALD_MAX; l++) {
		if (!(e->kib[l] > 0))
			continue;
		fputs(" " PREFIX "EMERALD_", f);
		print_upper(f, emerald_key(l));
		fprintf(f, "=%.6g\n " PREFIX "EMERALD_", e->per_w[l]);
		print_upper(f, emerald_chunk_key(l));
		fprintf(f, "=%.0fK\n", e->kib[l]);
	}
}

static void print_point(FILE *f, const Point *p, size_t number)
{
	fprintf(f, " " PREFIX "POINT_%zu=ps=%d qd=%u chunk=%uK ", number, p->power_state, p->depth,
		p->chunk_kib);
	if (p->read_share > 0 && p->read_share < 1)
		fprintf(f, "read=%.0f%% ", 100 * p->read_share);
	else
		fputs(p->read_share > 0 ? "read " : "write ", f);
	fprintf(f, "%s: %.6gW %.6gMB/s %.6giops p99=%.0fus error=%.4g%%%s\n",
		p->pattern == RANDOM_IO ? "random" : "sequential", p->watts, p->mb_s, p->iops,
		p->p99_us, 100 * p->error, p->estimated ? " estimated" : "");
}

static void print_record(FILE *f, const Profile *p, const char *firmware)
{
	size_t number = 0;

	fputs("# What a drive draws and gives, by storpowerctl calibrate\n" MATCH, f);
	print_model(f, p->models[0]);
	fputs(FWREV, f);
	if (firmware && *firmware)
		print_literal(f, firmware);
	else
		fputc('*', f);
	fprintf(f,
		":\n " PREFIX "KIND=%s\n " PREFIX "RATED=%.6gW\n " PREFIX "IDLE=%.6gW\n " PREFIX
		"ERROR=%.4g%%\n",
		kind_name(p->kind), p->rated_w, p->idle_w, 100 * p->error);
	print_sheet(f, p);
	print_idling(f, p);
	print_states(f, p);
	print_energies(f, p);
	print_emerald(f, &p->emerald);
	for (size_t i = 0; i < p->n_points; i++)
		print_point(f, &p->points[i], ++number);
	for (size_t i = 0; i < p->n_mixes; i++)
		print_point(f, &p->mixes[i].at, ++number);
}

int calibrate_export(const Profile *p, const char *firmware, char **ret)
{
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return -ENOMEM;
	print_record(f, p, firmware);
	if (fclose(f) != 0) {
		free(text);
		return -ENOMEM;
	}
	*ret = text;
	return 0;
}

typedef struct Import {
	size_t records, properties;
	bool in_energy, in_emerald, in_points;
	FILE *profile, *points; /* points come last */
} Import;

static void print_lower(FILE *f, const char *text)
{
	for (; *text; text++)
		fputc(tolower((unsigned char)*text), f);
}

/* "25W entry=5us operational=no": the first word is the value of `key`. */
static void take_section(Import *i, const char *section, const char *name, const char *key,
			 char *value)
{
	char *word;

	fprintf(i->points, "\n[%s ", section);
	print_lower(i->points, name);
	fprintf(i->points, "]\n%s = %s\n", key, strsep(&value, " "));
	while ((word = strsep(&value, " "))) {
		fprintf(i->points, "%.*s = ", (int)strcspn(word, "="), word);
		word += strcspn(word, "=");
		fprintf(i->points, "%s\n", *word ? word + 1 : "");
	}
}

static void take_property(Import *i, const char *name, char *value)
{
	i->properties++;
	if (strncmp(name, "STATE_", 6) == 0) {
		take_section(i, "power-state", name + 6, "max", value);
	} else if (strncmp(name, "CONDITION_", 10) == 0) {
		take_section(i, "condition", name + 10, "watts", value);
	} else if (strncmp(name, "ENERGY_", 7) == 0) {
		fputs(i->in_energy ? "" : "\n[energy]\n", i->points);
		i->in_energy = true;
		print_lower(i->points, name + 7);
		fprintf(i->points, " = %s\n", value);
	} else if (strncmp(name, "EMERALD_", 8) == 0) {
		fputs(i->in_emerald ? "" : "\n[emerald]\n", i->points);
		i->in_emerald = true;
		print_lower(i->points, name + 8);
		fprintf(i->points, " = %s\n", value);
	} else if (strncmp(name, "POINT_", 6) == 0) {
		fputs(i->in_points ? "" : "\n[points]\n", i->points);
		i->in_points = true;
		fprintf(i->points, "point = %s\n", value);
	} else {
		print_lower(i->profile, name);
		fprintf(i->profile, " = %s\n", value);
	}
}

/* "block:*:name:MODEL:fwrev:FIRMWARE:" */
static int take_match(Import *i, char *line)
{
	char *model = line + strlen(MATCH), *firmware;

	if (strncmp(line, MATCH, strlen(MATCH)) != 0 || !(firmware = strstr(model, FWREV)))
		return 0;
	*firmware = '\0';
	firmware += strlen(FWREV);
	if (i->records++ > 0)
		return -ENOTUNIQ;
	fprintf(i->profile,
		"# Imported by storpowerctl calibrate --import, from a record of firmware %.*s\n\n"
		"[profile]\nmatch = %s\n",
		(int)strcspn(firmware, ":"), firmware, model);
	return 0;
}

static int take_line(Import *i, char *line)
{
	char *value;

	if (*line != ' ')
		return take_match(i, line);
	line += strspn(line, " ");
	value = strchr(line, '=');
	if (i->records == 0 || !value || strncmp(line, PREFIX, strlen(PREFIX)) != 0)
		return 0;
	*value++ = '\0';
	take_property(i, line + strlen(PREFIX), value);
	return 0;
}

static int import_lines(Import *i, const char *record)
{
	_cleanup_free_ char *text = strdup(record);
	char *next = text, *line;
	int r = text ? 0 : -ENOMEM;

	while (r >= 0 && (line = strsep(&next, "\n")))
		r = take_line(i, line);
	if (r >= 0 && i->properties == 0)
		r = -EBADMSG;
	return r;
}

int calibrate_import(const char *record, char **ret)
{
	_cleanup_free_ char *profile = NULL, *points = NULL;
	size_t profile_size = 0, points_size = 0;
	Import i = { .profile = open_memstream(&profile, &profile_size),
		     .points = open_memstream(&points, &points_size) };
	int r = i.profile && i.points ? import_lines(&i, record) : -ENOMEM;

	if (i.profile && fclose(i.profile) != 0)
		r = -ENOMEM;
	if (i.points && fclose(i.points) != 0)
		r = -ENOMEM;
	if (r < 0)
		return r;
	*ret = text_printf("%s%s", profile, points);
	return *ret ? 0 : -ENOMEM;
}
