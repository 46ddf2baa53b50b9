/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "hw/ata-identity.h"

#include <errno.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/text.h"

#define PAGE_IDENTIFY 60 /* of the page, where IDENTIFY DEVICE's data begin */

/* Words of IDENTIFY DEVICE (ACS-5 7.13), and their bits */
#define WORDS              256
#define WORD_MODEL         27
#define WORD_SATA_FEATURES 78
#define SATA_FEATURES_DIPM (1u << 3)

/* Two characters a word, the first one in its upper byte. */
static void take_model(const char *identify, char *ret)
{
	for (size_t i = 0; i < ATA_MODEL_CHARS; i++)
		ret[i] = identify[(2 * WORD_MODEL + i) ^ 1];
	ret[ATA_MODEL_CHARS] = '\0';
	for (size_t n = ATA_MODEL_CHARS; n > 0 && (ret[n - 1] == ' ' || !ret[n - 1]); n--)
		ret[n - 1] = '\0';
}

/* As ata_id_has_dipm() of include/linux/ata.h: a word of all zeros or ones says nothing. */
static bool has_dipm(const char *identify)
{
	const uint8_t *word = (const uint8_t *)identify + (size_t)2 * WORD_SATA_FEATURES;
	unsigned features = word[0] | word[1] << 8;

	return features != 0xffff && features & SATA_FEATURES_DIPM;
}

int ata_identity_read(const char *sysfs_root, const char *disk, AtaIdentity *ret)
{
	_cleanup_free_ char *path = text_printf("%s/block/%s/device/vpd_pg89", sysfs_root, disk);
	_cleanup_free_ char *page = NULL;
	size_t n;
	int r = path ? read_bytes(path, &page, &n) : -ENOMEM;

	if (r < 0)
		return r;
	if (n < PAGE_IDENTIFY + (size_t)2 * WORDS)
		return -EBADMSG;
	take_model(page + PAGE_IDENTIFY, ret->model);
	ret->link_sleeps = has_dipm(page + PAGE_IDENTIFY);
	return 0;
}
