/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Scope-bound ownership, after systemd's and libnvme's cleanup.h: an owning local frees itself. */

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define _cleanup_(f) __attribute__((cleanup(f)))

/* Declares NAMEp(), the cleanup of a pointer local whose destructor is `name`. */
#define DEFINE_CLEANUP(type, name)                                                                 \
	static inline void name##p(type *p)                                                        \
	{                                                                                          \
		if (*p)                                                                            \
			name(*p);                                                                  \
	}                                                                                          \
	struct __useless_struct_to_allow_trailing_semicolon__

static inline void freep(void *p)
{
	free(*(void **)p);
}

static inline void closep(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline void fclosep(FILE **f)
{
	if (*f)
		fclose(*f);
}

static inline void closedirp(DIR **d)
{
	if (*d)
		closedir(*d);
}

#define _cleanup_free_     _cleanup_(freep)
#define _cleanup_close_    _cleanup_(closep)
#define _cleanup_fclose_   _cleanup_(fclosep)
#define _cleanup_closedir_ _cleanup_(closedirp)

/* Hands ownership out of a _cleanup_ local. */
#define TAKE_PTR(p)                                                                                \
	({                                                                                         \
		typeof(p) _taken = (p);                                                            \
		(p) = NULL;                                                                        \
		_taken;                                                                            \
	})
#define TAKE_FD(fd)                                                                                \
	({                                                                                         \
		int _taken = (fd);                                                                 \
		(fd) = -EBADF;                                                                     \
		_taken;                                                                            \
	})

#define ELEMENTSOF(a) (sizeof(a) / sizeof((a)[0]))
#define MIN(a, b)                                                                                  \
	({                                                                                         \
		typeof(a) _a = (a);                                                                \
		typeof(b) _b = (b);                                                                \
		_a < _b ? _a : _b;                                                                 \
	})
#define MAX(a, b)                                                                                  \
	({                                                                                         \
		typeof(a) _a = (a);                                                                \
		typeof(b) _b = (b);                                                                \
		_a > _b ? _a : _b;                                                                 \
	})
#define CLAMP(x, lo, hi) MIN(MAX(x, lo), hi)
#define _printf_(f, a)   __attribute__((format(printf, f, a)))

/* Grows a heap array by one zeroed element and evaluates to a pointer to it, NULL when out of
 * memory. Growth is geometric: capacity is implied by n being a power of two. */
#define ARRAY_GROW(array, n)                                                                       \
	({                                                                                         \
		bool _full = ((n) & ((n)-1)) == 0;                                                 \
		void *_new = _full ? reallocarray((array), (n) ? (n)*2 : 1, sizeof(*(array)))      \
				   : (array);                                                      \
		if (_new) {                                                                        \
			(array) = _new;                                                            \
			memset(&(array)[n], 0, sizeof(*(array)));                                  \
			(n)++;                                                                     \
		}                                                                                  \
		_new ? &(array)[(n)-1] : NULL;                                                     \
	})
