/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "model/profile-file.h"

/* Below this size drives may serve more IOs than their sheet says of 4 KiB. */
#define SHEET_KIB 4

static const char *const directions[_DIRECTION_MAX] = { "read", "write" };

/* The part of a point that goes this way; its IOs are all of one size. */
static double part_of(const Point *p, Direction d)
{
	return d == READ_IO ? p->read_share : 1 - p->read_share;
}

static void check_interface(ProfileFile *f, const Point *q, unsigned line, Direction d)
{
	const Profile *p = f->profile;
	double mb_s = part_of(q, d) * q->mb_s, most_mb_s = profile_ceiling_mb_s(p);

	if (mb_s > most_mb_s)
		profile_complain(f, line, "point (%g MB/s) is above what %s carries (%g MB/s)%s",
				 mb_s, interface_name(profile_interface(p)), most_mb_s,
				 p->sheet.interface ? "" : "; interface= says what else it is at");
}

/* What was measured may be above a promise by as much as it may be off. */
static void check_sheet(ProfileFile *f, const Point *q, unsigned line, Direction d)
{
	const Sheet *s = &f->profile->sheet;
	double mb_s = part_of(q, d) * q->mb_s, iops = part_of(q, d) * q->iops;

	if (s->mb_s[d] > 0 && mb_s > s->mb_s[d] * (1 + q->error))
		profile_complain(f, line, "point (%g MB/s) is above the sheet (%s_mb_s = %g)", mb_s,
				 directions[d], s->mb_s[d]);
	if (s->iops[d] > 0 && q->pattern == RANDOM_IO && q->chunk_kib >= SHEET_KIB &&
	    iops > s->iops[d] * (1 + q->error))
		profile_complain(f, line, "point (%g IOPS) is above the sheet (%s_iops = %g)", iops,
				 directions[d], s->iops[d]);
}

/* Who asks for more at a time is served no less. */
static void check_falling(ProfileFile *f, size_t i)
{
	const Point *q = &f->profile->points[i];

	for (size_t j = 0; j < f->profile->n_points; j++) {
		const Point *o = &f->profile->points[j];

		if (o->depth < q->depth && point_same_but_depth(q, o) &&
		    q->mb_s < o->mb_s * (1 - MAX(q->error, o->error)))
			profile_complain(
				f, f->point_lines[i],
				"point (%g MB/s) is served less than at depth %u (%g MB/s, "
				"line %u)",
				q->mb_s, o->depth, o->mb_s, f->point_lines[j]);
	}
}

void profile_check_speed(ProfileFile *f, size_t point)
{
	const Point *q = &f->profile->points[point];

	for (Direction d = 0; d < _DIRECTION_MAX; d++) {
		check_interface(f, q, f->point_lines[point], d);
		check_sheet(f, q, f->point_lines[point], d);
	}
	check_falling(f, point);
}
