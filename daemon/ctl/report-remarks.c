/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What the figures of a report are, in sentences: what is measured, and what is modelled or told.
 */

#include <math.h>

#include "ctl/report.h"
#include "ctl/words.h"

static const char *remark_energy(char *buf, size_t size, const Report *r, const ReportFigures *f)
{
	char share[REPORT_TEXT], error[REPORT_TEXT];

	(void)r;
	report_percent(error, f->energy.error_j / f->energy.joules);
	if (f->energy.measured > 0)
		snprintf(
			buf, size,
			"Power sensors measured %s of the energy. The rest is modelled: from what "
			"each drive's profile says that its settings and its IO draw. All of it is "
			"right to %s %s.",
			report_percent(share, f->energy.measured), words_plus_minus(), error);
	else
		snprintf(buf, size,
			 "All of the energy is modelled, from what each drive's profile says that "
			 "its settings and its IO draw, and right to %s %s: no power sensor "
			 "measured it.",
			 words_plus_minus(), error);
	return buf;
}

static const char *remark_requests(char *buf, size_t size, const Report *r, const ReportFigures *f)
{
	const bool rapl = !isnan(f->energy.cpu_j) || !isnan(f->energy.memory_j);

	if (!(f->work.requests > 0))
		return NULL;
	snprintf(buf, size, "A request is %s. Its energy is that of %s.",
		 report_counts_requests(&r->total)
			 ? "one of the application, as it was told over D-Bus"
			 : "an IO: no application told how many it served",
		 rapl ? "storage, CPU and memory, the latter two by RAPL"
		      : "storage alone: there is no RAPL here to tell that of CPU and memory");
	return buf;
}

static const char *remark_money(char *buf, size_t size, const Report *r, const ReportFigures *f)
{
	char share[REPORT_TEXT];

	if (isnan(f->money.cost))
		return NULL;
	if (!isnan(r->terms.price_kwh))
		snprintf(buf, size, "The price is the one that this report was told, %g a kWh.",
			 r->terms.price_kwh);
	else
		snprintf(buf, size, "Each kWh is counted at its price of the time%s%s%s.",
			 f->money.priced < 0.999 ? "; of " : "",
			 f->money.priced < 0.999 ? report_percent(share, f->money.priced) : "",
			 f->money.priced < 0.999 ? " of the energy it was known" : "");
	return buf;
}

static const char *remark_carbon(char *buf, size_t size, const Report *r, const ReportFigures *f)
{
	char share[REPORT_TEXT], part[2 * REPORT_TEXT];
	const double marginal = f->carbon.marginal;

	if (isnan(f->carbon.kg))
		return NULL;
	if (!isnan(r->terms.g_kwh)) {
		snprintf(
			buf, size,
			"The carbon intensity is the one that this report was told, %g g of CO2e a "
			"kWh.",
			r->terms.g_kwh);
		return buf;
	}
	if (marginal > 0.001 && marginal < 0.999)
		snprintf(part, sizeof(part), "marginal one for %s",
			 report_percent(share, marginal));
	else
		snprintf(part, sizeof(part), marginal > 0.5 ? "marginal one" : "average one");
	snprintf(buf, size, "CO2e is by the grid's intensity of the time, a%s %s%s%s%s.",
		 *part == 'a' ? "n" : "", part, f->carbon.weighed < 0.999 ? "; of " : "",
		 f->carbon.weighed < 0.999 ? report_percent(share, f->carbon.weighed) : "",
		 f->carbon.weighed < 0.999 ? " of the energy it was known" : "");
	return buf;
}

static const char *remark_saved(char *buf, size_t size, const Report *r, const ReportFigures *f)
{
	(void)r;
	if (isnan(f->limit.unlimited_j) && isnan(f->limit.turning_j))
		return NULL;
	snprintf(buf, size,
		 "What would have been drawn without a budget, or had no disk slept, is "
		 "modelled.");
	return buf;
}

static const char *remark_cgroups(char *buf, size_t size, const Report *r, const ReportFigures *f)
{
	(void)f;
	if (r->by != BY_CGROUP)
		return NULL;
	snprintf(buf, size,
		 "A cgroup's energy is what its IO took above idle. What the devices draw "
		 "without any IO is (idle); IO of which nobody knows whose it was is (not "
		 "attributed).");
	return buf;
}

bool report_remark(char *buf, size_t size, const Report *r, const ReportFigures *f, size_t i)
{
	static const char *(*const remarks[])(
		char *, size_t, const Report *,
		const ReportFigures *) = { remark_energy, remark_requests, remark_money,
					   remark_carbon, remark_saved,    remark_cgroups };

	if (i >= ELEMENTSOF(remarks))
		return false;
	*buf = '\0';
	(void)remarks[i](buf, size, r, f);
	return true;
}
