/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A table of keys says which sections and keys an ini file may have, what their values must be, and
 * which member of a struct each value goes into. */

#include <stdint.h>

#include "base/ini.h"

/* What a value is. Numbers go into a double, an unsigned or a uint64_t, whichever the member is. */
typedef enum KeyType {
	KEY_NUMBER,       /* "0.5" */
	KEY_UNSIGNED,     /* whole; below 2^53 */
	KEY_WATTS,        /* "40W", "350mW" */
	KEY_JOULES,       /* "25mJ" */
	KEY_SHARE,        /* "70%"; the member is a fraction */
	KEY_DURATION,     /* "90s", also "0"; us */
	KEY_BYTES,        /* "64K"; below 2^53 */
	KEY_BOOL,         /* bool: "yes", "off", ... */
	KEY_TEXT,         /* char *, replaced by a copy */
	KEY_TEXT_OR_NULL, /* the same, but nothing makes NULL of it */
	KEY_NAME,         /* an enum, by `from_name` */
	KEY_SET,          /* unsigned, by `from_list` */
	KEY_CUSTOM,       /* anything, by `take` */
} KeyType;

typedef enum KeyMember { MEMBER_OTHER, MEMBER_DOUBLE, MEMBER_UINT32, MEMBER_UINT64 } KeyMember;

typedef struct Key {
	const char *name;
	KeyType type;
	size_t offset;
	KeyMember member;
	bool many;       /* a section may have it more than once */
	double min, max; /* of a number, inclusive; max 0: as far as the type goes */
	double per;      /* so many of the type's unit are one of the member's; 0: 1 */
	/* What would be right, for a complaint; NULL: type and range say it. */
	const char *expected;
	union {
		bool (*is_valid)(const char *text); /* of a text; NULL: any is */
		int (*from_name)(const char *name); /* the enum's value or -EINVAL */
		int (*from_list)(const char *, unsigned *ret_set);
		/* Sets the member. -EINVAL and -ERANGE are complained of with `expected`; where
		 * that is NULL, take() has complained itself. */
		int (*take)(const IniLine *l, void *member);
	};
} Key;

/* Where a key's value goes: the member `m` of a struct of type S. */
#define KEY_AT(S, m)                                                                               \
	.offset = offsetof(S, m), .member = _Generic(((S *)0)->m, double                           \
						     : MEMBER_DOUBLE, uint32_t                     \
						     : MEMBER_UINT32, uint64_t                     \
						     : MEMBER_UINT64, default                      \
						     : MEMBER_OTHER)

typedef struct KeySection {
	const char *name;  /* "policy" of [policy], "devices" of [devices GLOB] */
	const char *named; /* what follows the name: "GLOB"; NULL: nothing does */
	const Key *keys;
	size_t n_keys;
	bool many; /* a file may have several of the same name */
	/* Finds or makes the struct that this section is about, for its heading and for each key;
	 * NULL: it is `userdata` itself. `rest` is what follows the name and one blank. -ENOENT:
	 * there can be no such section. It has complained of other errors itself, at the heading
	 * alone. */
	int (*open)(const IniLine *l, const char *rest, void *userdata, void **ret_struct);
} KeySection;

/* Members of a KeySection, from an array. */
#define KEY_LIST(array) .keys = (array), .n_keys = ELEMENTSOF(array)

/* Puts the value of a line into its place; a heading only opens its section. It complains, with
 * file, line and what would be right, of an unknown section or key (-ENOENT) and of a value that
 * cannot be used (-EINVAL), which changes nothing. Of sections of one name in a file and of lines
 * of one key in a section the first is used; the others are complained of with both lines
 * (-EINVAL). What stands below a heading that was complained of is passed over (0). Also -ENOMEM.
 */
int keys_apply(const KeySection *sections, size_t n, const IniLine *l, void *userdata);
/* Applies every line of a text. *ret_warnings: how many lines were complained of; the others have
 * their effect all the same. -ENOMEM. */
int keys_read_text(const KeySection *sections, size_t n, const char *path, const char *text,
		   void *userdata, size_t *ret_warnings);

/* Is there a key of that name? */
bool keys_have(const Key *keys, size_t n, const char *name);
