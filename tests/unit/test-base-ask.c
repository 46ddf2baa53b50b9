/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Services that answer, and some that do not. */

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cmocka.h>

#include "base/ask.h"
#include "base/clock.h"
#include "test-folder.h"

#define SOCKET "socket"

/* A service for one caller. */
typedef struct Service {
	int fd;
	const char *answer; /* NULL: it hangs until the end */
	sem_t end;
	char *question;
	pthread_t thread;
} Service;

static void *serve(void *userdata)
{
	Service *s = userdata;
	_cleanup_close_ int fd = accept(s->fd, NULL, NULL);

	(void)read_to_end(fd, 1 << 20, clock_now_us(&clock_boottime) + 30 * USEC_PER_SEC,
			  &s->question);
	if (s->answer)
		(void)!write(fd, s->answer, strlen(s->answer));
	else
		sem_wait(&s->end);
	return NULL;
}

static void start(Service *s, bool serves)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX, .sun_path = SOCKET };

	s->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(s->fd, (struct sockaddr *)&a, sizeof(a)), 0);
	assert_int_equal(listen(s->fd, 0), 0);
	sem_init(&s->end, 0, 0);
	if (serves)
		assert_int_equal(pthread_create(&s->thread, NULL, serve, s), 0);
}

static void stop(Service *s)
{
	sem_post(&s->end);
	pthread_join(s->thread, NULL);
	close(s->fd);
	free(s->question);
}

static void a_service_has_all_of_the_question_and_its_answer_is_read(void **state)
{
	_cleanup_free_ char *question = calloc(1, 300001), *answer = NULL;
	Service s = { .answer = "veto: no\n" };

	(void)state;
	memset(question, 'q', 300000); /* more than a socket takes at once */
	start(&s, true);
	assert_int_equal(ask_service(SOCKET, question, 30 * USEC_PER_SEC, &answer), 0);
	assert_string_equal(answer, "veto: no\n");
	stop(&s);
}

static void what_was_asked_is_what_arrives(void **state)
{
	_cleanup_free_ char *answer = NULL;
	Service s = { .answer = "" };

	(void)state;
	start(&s, true);
	assert_int_equal(ask_service(SOCKET, "A=1\nB=2\n", 30 * USEC_PER_SEC, &answer), 0);
	assert_string_equal(answer, "");
	pthread_join(s.thread, NULL);
	assert_string_equal(s.question, "A=1\nB=2\n");
	close(s.fd);
	free(s.question);
}

static void who_does_not_answer_is_waited_for_no_longer_than_said(void **state)
{
	uint64_t began_us = clock_now_us(&clock_boottime);
	_cleanup_free_ char *answer = NULL;
	Service s = {};

	(void)state;
	start(&s, true);
	assert_int_equal(ask_service(SOCKET, "A=1\n", 300 * USEC_PER_MSEC, &answer), -ETIMEDOUT);
	assert_true(clock_now_us(&clock_boottime) - began_us < 20 * USEC_PER_SEC);
	stop(&s);
}

static void a_socket_without_a_service_is_told_from_none(void **state)
{
	char *answer = NULL;
	Service s = {};

	(void)state;
	assert_int_equal(ask_service(SOCKET, "", USEC_PER_SEC, &answer), -ENOENT);
	start(&s, false);
	close(s.fd);
	assert_int_equal(ask_service(SOCKET, "", USEC_PER_SEC, &answer), -ECONNREFUSED);
}

static void a_path_that_no_socket_can_have_is_refused(void **state)
{
	_cleanup_free_ char *path = calloc(1, 301);
	char *answer = NULL;

	(void)state;
	memset(path, 'x', 300);
	assert_int_equal(ask_service(path, "", USEC_PER_SEC, &answer), -ENAMETOOLONG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		file_test(a_service_has_all_of_the_question_and_its_answer_is_read),
		file_test(what_was_asked_is_what_arrives),
		file_test(who_does_not_answer_is_waited_for_no_longer_than_said),
		file_test(a_socket_without_a_service_is_told_from_none),
		file_test(a_path_that_no_socket_can_have_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
