/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The one format of storpower's state files: a line that says what the file is, then a record a
 * line, each line with a checksum of its own.
 *
 *	storpower-wear 2 #01234567
 *	disk id="wwid:naa.5000c500a1b2c3d4" starts=8.25 starts-used=17 #89abcdef
 *
 * Texts are quoted and hold any bytes but NUL; numbers read back to the last bit. There are no
 * comments and no empty lines: one flipped bit would make a comment of a record. Pure: text to
 * records and back. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef enum FieldType {
	FIELD_TEXT,   /* char *, malloc'd by the reader */
	FIELD_COUNT,  /* uint64_t */
	FIELD_NUMBER, /* double, finite */
} FieldType;

typedef struct RecordField {
	const char *key;
	FieldType type;
	size_t offset;
	bool optional; /* NULL and 0 are left out */
} RecordField;

/* clang-format off */
#define FIELD_TYPE(lvalue) _Generic(lvalue, char *: FIELD_TEXT, uint64_t: FIELD_COUNT, double: FIELD_NUMBER)
/* clang-format on */
/* A member of a struct as field: FIELD(WearAccount, starts, "starts"). */
#define FIELD(type, member, key)                                                                   \
	{                                                                                          \
		key, FIELD_TYPE(((type *)0)->member), offsetof(type, member), false                \
	}
#define FIELD_OPTIONAL(type, member, key)                                                          \
	{                                                                                          \
		key, FIELD_TYPE(((type *)0)->member), offsetof(type, member), true                 \
	}
#define RECORD_FIELDS_MAX 24

/* What a record of one name holds. */
typedef struct RecordKind {
	const char *name;
	size_t size; /* of the struct */
	/* Takes a record that is whole; a text that it keeps it sets to NULL. An error other than
	 * -ENOMEM: the record makes no sense. */
	int (*take)(void *record, void *userdata);
	RecordField fields[RECORD_FIELDS_MAX + 1]; /* up to one without a key */
} RecordKind;

#define RECORDS_VERSION 2

typedef struct RecordsFormat {
	const char *name;               /* the file begins "storpower-NAME 2" */
	const RecordKind *const *kinds; /* up to NULL */
	const char *loss;               /* what a damaged line costs, for the log */
	/* Told of each damaged line, which may hold any bytes; NULL: nobody asks. */
	void (*damaged)(const char *line, size_t n, void *userdata);
	/* Its last line may be unfinished, because what it was to tell had not happened yet. */
	bool appended;
	/* It is the first version, without checksums but with comments. */
	bool unsealed;
} RecordsFormat;

/* Reads every line, and takes the records of those that are whole. The others are logged with
 * path:line. Returns 0, or what was found (any of them); -ENOMEM; -EPROTONOSUPPORT when another
 * version wrote the file (not logged; nothing more is read). */
enum { RECORDS_DAMAGED = 1, RECORDS_UNFINISHED = 2 };
int records_read(const RecordsFormat *format, const char *path, const char *text, size_t n,
		 void *userdata);

/* The text of records, built line by line. */
typedef struct RecordsWriter {
	FILE *stream;
	char *text;
	size_t n;
} RecordsWriter;

/* name is that of the format, for a file's first line; NULL: what follows is appended to a file. */
int records_begin(RecordsWriter *w, const char *name);
void records_add(RecordsWriter *w, const RecordKind *kind, const void *record);
/* The text, malloc'd and NUL-terminated. -ENOMEM. */
int records_end(RecordsWriter *w, char **ret_text, size_t *ret_n);

/* FNV-1a, 32 bits (IETF draft-eastlake-fnv), as in the journal's first version, so that its reader
 * knows a newer file for what it is. Any change within one byte changes the sum. */
uint32_t records_checksum(const char *text, size_t n);
