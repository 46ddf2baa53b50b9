/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "model/profile.h"

#include <errno.h>
#include <stdio.h>

#include "base/text.h"

static const char *const kind_names[_KIND_MAX] = {
	[KIND_NVME] = "nvme",
	[KIND_SATA_SSD] = "sata-ssd",
	[KIND_HDD] = "hdd",
};

const char *kind_name(DeviceKind k)
{
	return (unsigned)k < _KIND_MAX ? kind_names[k] : "unknown";
}

int kind_from_name(const char *name)
{
	for (int k = 0; k < _KIND_MAX; k++)
		if (streq(name, kind_names[k]))
			return k;
	return -EINVAL;
}

static const struct {
	const char *name;
	Figure figure;
} figure_names[] = {
	{ "rated", FIGURE_RATED },
	{ "idle", FIGURE_IDLE },
	{ "link_saving", FIGURE_LINK_SAVING },
};

const char *figures_text(char *buf, size_t size, unsigned figures)
{
	size_t n = 0;

	*buf = '\0';
	for (size_t i = 0; i < ELEMENTSOF(figure_names) && n < size; i++)
		if (figures & figure_names[i].figure)
			n += (size_t)snprintf(buf + n, size - n, "%s%s", n > 0 ? " " : "",
					      figure_names[i].name);
	return buf;
}

static int figure_from_name(const char *name)
{
	for (size_t i = 0; i < ELEMENTSOF(figure_names); i++)
		if (streq(name, figure_names[i].name))
			return figure_names[i].figure;
	return -EINVAL;
}

int figures_from_list(const char *list, unsigned *ret_figures)
{
	_cleanup_(strv_freep) char **names = strv_split(list);
	unsigned set = 0;

	if (!names)
		return -ENOMEM;
	for (char **n = names; *n; n++) {
		int figure = figure_from_name(*n);

		if (figure < 0)
			return figure;
		set |= (unsigned)figure;
	}
	*ret_figures = set;
	return set ? 0 : -EINVAL;
}

/* Disks and SSDs at a SAS port are of these kinds, too: their profile has to say so. */
Interface profile_interface(const Profile *p)
{
	if (p->sheet.interface != INTERFACE_UNKNOWN)
		return p->sheet.interface;
	return p->kind == KIND_NVME ? INTERFACE_PCIE5_X8 : INTERFACE_SATA;
}

double profile_ceiling_mb_s(const Profile *p)
{
	return interface_mb_s(profile_interface(p));
}

Profile *profile_free(Profile *p)
{
	if (!p)
		return NULL;
	free(p->name);
	free(p->path);
	strv_free(p->models);
	free(p->points);
	free(p->mixes);
	free(p);
	return NULL;
}
