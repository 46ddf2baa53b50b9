/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A file of another version, or a damaged one, is moved to PATH.damaged: the daemon goes on without
 * it, but nothing is lost. going_on: what it goes on with, for the log. */
int set_aside(const char *path, const char *going_on);
