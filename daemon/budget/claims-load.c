/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "budget/claims-file.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/quote.h"

/* A time as saved: boot time, wall clock, and how far off it was when it was saved. */
typedef struct Moment {
	uint64_t boot_us, wall_us, left_us;
} Moment;

typedef struct SavedClaim {
	Claim claim;
	char *boot;
	Moment start, expiry;
	unsigned seen; /* bit per entry of `fields` */
} SavedClaim;

static void saved_claim_clear(SavedClaim *s)
{
	claim_clear(&s->claim);
	free(s->boot);
}

static int read_u64(const char *value, uint64_t *ret)
{
	unsigned long v;
	int r = parse_unsigned(value, UINT64_MAX, &v);

	if (r >= 0)
		*ret = v;
	return r;
}

static int read_cookie(SavedClaim *s, const char *value)
{
	int r = read_u64(value, &s->claim.cookie);

	return r < 0 || (s->claim.cookie && s->claim.cookie < COOKIE_MAX) ? r : -ERANGE;
}

static int read_class(SavedClaim *s, const char *value)
{
	int k = claim_class_from_name(value);

	if (k < 0)
		return k;
	s->claim.class = (ClaimClass)k;
	return 0;
}

static int read_scope(SavedClaim *s, const char *value)
{
	int k = claim_scope_from_name(value);

	if (k < 0)
		return k;
	s->claim.scope = (ClaimScope)k;
	return 0;
}

/* Not parse_limit(): what was accepted once is read back to the last bit, however small. */
static int read_limit(SavedClaim *s, const char *value)
{
	size_t n = strcspn(value, "%W");
	_cleanup_free_ char *number = strndup(value, n);

	if (!number)
		return -ENOMEM;
	if (!streq(value + n, "%") && !streq(value + n, "W"))
		return -EINVAL;
	s->claim.unit = value[n] == '%' ? LIMIT_PERCENT : LIMIT_WATTS;
	return parse_double(number, &s->claim.limit);
}

static int read_copy(char **to, const char *value)
{
	*to = strdup(value);
	return *to ? 0 : -ENOMEM;
}

static int read_target(SavedClaim *s, const char *value)
{
	return read_copy(&s->claim.target, value);
}

static int read_source(SavedClaim *s, const char *value)
{
	return read_copy(&s->claim.source, value);
}

static int read_reason(SavedClaim *s, const char *value)
{
	return read_copy(&s->claim.reason, value);
}

static int read_boot(SavedClaim *s, const char *value)
{
	return read_copy(&s->boot, value);
}

static int read_created(SavedClaim *s, const char *value)
{
	return read_u64(value, &s->claim.created_us);
}

static int read_moment(Moment *m, const char *value)
{
	uint64_t *const parts[] = { &m->boot_us, &m->wall_us, &m->left_us };
	char number[21];

	for (size_t i = 0; i < ELEMENTSOF(parts); i++) {
		size_t n = strcspn(value, "/");

		if (n >= sizeof(number) || (value[n] == '\0') != (i == ELEMENTSOF(parts) - 1))
			return -EINVAL;
		memcpy(number, value, n);
		number[n] = '\0';
		if (read_u64(number, parts[i]) < 0)
			return -EINVAL;
		value += n + 1;
	}
	return 0;
}

static int read_start(SavedClaim *s, const char *value)
{
	return read_moment(&s->start, value);
}

static int read_expiry(SavedClaim *s, const char *value)
{
	return read_moment(&s->expiry, value);
}

static const struct Field {
	const char *name;
	int (*read)(SavedClaim *s, const char *value);
	bool optional;
} fields[] = {
	{ "cookie", read_cookie },       { "class", read_class },
	{ "scope", read_scope },         { "target", read_target, true },
	{ "limit", read_limit },         { "source", read_source },
	{ "reason", read_reason },       { "boot", read_boot },
	{ "created", read_created },     { "start", read_start, true },
	{ "expiry", read_expiry, true },
};

static bool saw(const SavedClaim *s, int (*read)(SavedClaim *s, const char *value))
{
	for (size_t i = 0; i < ELEMENTSOF(fields); i++)
		if (fields[i].read == read)
			return s->seen & (1U << i);
	return false;
}

static int read_value(const char **p, char **ret)
{
	size_t n = strcspn(*p, " ");

	if (**p == '"')
		return quote_read(p, ret);
	*ret = strndup(*p, n);
	*p += n;
	return *ret ? 0 : -ENOMEM;
}

static int read_field(SavedClaim *s, const char **p)
{
	size_t n = strcspn(*p, "= \"");

	for (size_t i = 0; i < ELEMENTSOF(fields); i++) {
		_cleanup_free_ char *value = NULL;
		int r;

		if (strlen(fields[i].name) != n || strncmp(*p, fields[i].name, n) != 0)
			continue;
		if ((*p)[n] != '=' || s->seen & (1U << i))
			return -EINVAL;
		*p += n + 1;
		r = read_value(p, &value);
		if (r < 0)
			return r;
		s->seen |= 1U << i;
		return fields[i].read(s, value);
	}
	return -EINVAL;
}

static int read_fields(SavedClaim *s, const char *p)
{
	for (p += strspn(p, " "); *p; p += strspn(p, " ")) {
		int r = read_field(s, &p);

		if (r < 0)
			return r;
		if (*p && *p != ' ')
			return -EINVAL;
	}
	for (size_t i = 0; i < ELEMENTSOF(fields); i++)
		if (!fields[i].optional && !(s->seen & (1U << i)))
			return -EINVAL;
	return 0;
}

/* A moment of an earlier boot in this one's time. The wall clock counts what passed while the
 * machine was down, but a clock that was set back (or stands at 1970 for want of a battery) must
 * not put the moment further off than it was. */
static uint64_t after_reboot(const Moment *m, const ClaimsClock *clock)
{
	uint64_t wall_us = m->wall_us > clock->realtime_us ? m->wall_us - clock->realtime_us : 0;
	uint64_t left_us = MIN(wall_us, m->left_us);

	if (!left_us)
		return 0;
	return left_us > USEC_NEVER - clock->boottime_us ? USEC_NEVER
							 : clock->boottime_us + left_us;
}

static void set_times(SavedClaim *s, const ClaimsClock *clock)
{
	bool same_boot = streq(s->boot, clock->boot_id);

	s->claim.expiry_us = USEC_NEVER;
	if (saw(s, read_start))
		s->claim.start_us = same_boot ? s->start.boot_us : after_reboot(&s->start, clock);
	if (saw(s, read_expiry))
		s->claim.expiry_us =
			same_boot ? s->expiry.boot_us : after_reboot(&s->expiry, clock);
	if (!same_boot)
		s->claim.created_us = 0;
}

static int load_claim(Claims *c, const char *p, const ClaimsClock *clock)
{
	_cleanup_(saved_claim_clear) SavedClaim s = { 0 };
	int r = read_fields(&s, p);

	if (r < 0)
		return r;
	set_times(&s, clock);
	c->next_cookie = MAX(c->next_cookie, s.claim.cookie + 1);
	if (s.claim.expiry_us <= clock->boottime_us) {
		log_info("claim %lu by %s has run out meanwhile", (unsigned long)s.claim.cookie,
			 s.claim.source);
		return 0;
	}
	return claims_insert(c, &s.claim, s.claim.cookie);
}

static int load_next_cookie(Claims *c, const char *value)
{
	uint64_t next;
	int r = read_u64(value, &next);

	if (r < 0 || next >= COOKIE_MAX)
		return r < 0 ? r : -ERANGE;
	c->next_cookie = MAX(c->next_cookie, next);
	return 0;
}

static int load_line(Claims *c, const char *line, const ClaimsClock *clock)
{
	static const char claim[] = "claim ", next[] = "next-cookie ";

	if (*line == '#' || *line == '\0')
		return 0;
	if (!strncmp(line, claim, sizeof(claim) - 1))
		return load_claim(c, line + sizeof(claim) - 1, clock);
	if (!strncmp(line, next, sizeof(next) - 1))
		return load_next_cookie(c, line + sizeof(next) - 1);
	return -EINVAL;
}

int claims_load(Claims *c, const char *path, const char *text, const ClaimsClock *clock)
{
	static const char version[] = CLAIMS_FILE_VERSION "\n";
	unsigned number = 1;
	int left_out = 0;

	if (strncmp(text, version, sizeof(version) - 1) != 0) {
		log_error("%s:1: not \"%s\": no claim is read; move the file away to go on without",
			  path, CLAIMS_FILE_VERSION);
		return -EBADMSG;
	}
	for (text += sizeof(version) - 1; *text; text += *text == '\n') {
		size_t n = strcspn(text, "\n");
		_cleanup_free_ char *line = strndup(text, n);
		int r;

		if (!line)
			return -ENOMEM;
		number++;
		r = load_line(c, line, clock);
		if (r == -ENOMEM)
			return r;
		if (r < 0) {
			log_warning_errno(r, "%s:%u: leaving this line out", path, number);
			left_out = 1;
		}
		text += n;
	}
	return left_out;
}
