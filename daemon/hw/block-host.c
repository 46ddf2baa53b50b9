/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "hw/block-host.h"

#include <stdbool.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/sysfs.h"
#include "base/text.h"

/* Of ".../0000:00:17.0/ata3/host2/target2:0:0/2:0:0:0" returns what is before the host, and gives
 * the number of the host. */
static char *find_host(const char *sysfs_root, const char *disk, unsigned *ret_number)
{
	_cleanup_free_ char *link = text_printf("%s/block/%s/device", sysfs_root, disk);
	char *real = link ? realpath(link, NULL) : NULL;

	for (char *at = real; at && (at = strstr(at, "/host")); at++)
		if (sscanf(at, "/host%u/", ret_number) == 1) {
			*at = '\0';
			return real;
		}
	free(real);
	return NULL;
}

char *block_scsi_host(const char *sysfs_root, const char *disk)
{
	unsigned number;
	_cleanup_free_ char *above = find_host(sysfs_root, disk, &number);

	return above ? text_printf("%s/class/scsi_host/host%u", sysfs_root, number) : NULL;
}

static bool is_pci_function(const char *name)
{
	unsigned domain, bus, device, function;
	char rest;

	return sscanf(name, "%x:%x:%x.%x%c", &domain, &bus, &device, &function, &rest) == 4;
}

/* libata's ports are hosts of one adapter. */
static bool is_ata_port(const char *name)
{
	unsigned port;
	char rest;

	return sscanf(name, "ata%u%c", &port, &rest) == 1;
}

char *block_hba(const char *sysfs_root, const char *disk)
{
	unsigned number;
	_cleanup_free_ char *above = find_host(sysfs_root, disk, &number);
	_cleanup_free_ char *link = NULL, *driver = NULL;

	if (!above)
		return strdup("");
	if (is_ata_port(base_name(above)))
		*strrchr(above, '/') = '\0';
	link = text_printf("%s/driver", above);
	driver = link && is_pci_function(base_name(above)) ? realpath(link, NULL) : NULL;
	return driver ? text_printf("%s %s", base_name(above), base_name(driver))
		      : strdup(base_name(above));
}
