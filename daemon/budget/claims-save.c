/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "budget/claims-file.h"

#include <errno.h>
#include <inttypes.h>

#include "base/clock.h"
#include "base/quote.h"

static uint64_t add_saturated(uint64_t a, uint64_t b)
{
	return a > USEC_NEVER - b ? USEC_NEVER : a + b;
}

static void save_moment(FILE *f, const char *name, uint64_t boot_us, const ClaimsClock *clock)
{
	uint64_t left_us = boot_us > clock->boottime_us ? boot_us - clock->boottime_us : 0;

	fprintf(f, " %s=%" PRIu64 "/%" PRIu64 "/%" PRIu64, name, boot_us,
		add_saturated(clock->realtime_us, left_us), left_us);
}

/* 15 digits where they read back as the same number: 0.1 stays 0.1. */
static void save_limit(FILE *f, const Claim *claim)
{
	char number[40];
	double back;

	for (int digits = 15; digits <= 17; digits++) {
		snprintf(number, sizeof(number), "%.*g", digits, claim->limit);
		if (parse_double(number, &back) >= 0 && back == claim->limit)
			break;
	}
	fprintf(f, " limit=%s%s", number, claim->unit == LIMIT_PERCENT ? "%" : "W");
}

static void save_text(FILE *f, const char *name, const char *text)
{
	fprintf(f, " %s=", name);
	quote_write(f, text);
}

static void save_claim(FILE *f, const Claim *claim, const ClaimsClock *clock)
{
	fprintf(f, "claim cookie=%" PRIu64 " class=%s scope=%s", claim->cookie,
		claim_class_name(claim->class), claim_scope_name(claim->scope));
	if (claim->target)
		save_text(f, "target", claim->target);
	save_limit(f, claim);
	save_text(f, "source", claim->source);
	save_text(f, "reason", claim->reason);
	fprintf(f, " boot=%s created=%" PRIu64, clock->boot_id, claim->created_us);
	if (claim->start_us)
		save_moment(f, "start", claim->start_us, clock);
	if (claim->expiry_us != USEC_NEVER)
		save_moment(f, "expiry", claim->expiry_us, clock);
	fputc('\n', f);
}

int claims_save(const Claims *c, const ClaimsClock *clock, char **ret_text)
{
	_cleanup_free_ char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return -ENOMEM;
	fprintf(f,
		CLAIMS_FILE_VERSION
		"\n"
		"# Written by storpowerd. Times are boot time / wall clock / left, in microseconds.\n"
		"next-cookie %" PRIu64 "\n",
		c->next_cookie);
	for (size_t i = 0; i < c->n; i++)
		if (!c->claims[i].owner)
			save_claim(f, &c->claims[i], clock);
	if (fclose(f) != 0)
		return -ENOMEM;
	*ret_text = TAKE_PTR(text);
	return 0;
}
