/* walk DIR: opens, reads to its end and closes every regular file below a directory, with
 * two threads, and does nothing else: the least that a scanner of files can cost. */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SIZE = 256 << 10 };
static char *folders[1 << 20];
static int count, busy;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER;

static void put(char *path) {
	pthread_mutex_lock(&mutex);
	folders[count++] = path;
	pthread_cond_signal(&more);
	pthread_mutex_unlock(&mutex);
}

static char *take(void) {
	char *path = NULL;
	pthread_mutex_lock(&mutex);
	while (count == 0 && busy > 0) pthread_cond_wait(&more, &mutex);
	if (count > 0) {
		path = folders[--count];
		busy++;
	}
	pthread_mutex_unlock(&mutex);
	return path;
}

static void finish(void) {
	pthread_mutex_lock(&mutex);
	if (--busy == 0) pthread_cond_broadcast(&more);
	pthread_mutex_unlock(&mutex);
}

static void *work(void *unused) {
	char *buf = malloc(SIZE), *path;
	while ((path = take())) {
		DIR *d = opendir(path);
		struct dirent *e;
		while (d && (e = readdir(d))) {
			if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, "..")) continue;
			if (e->d_type == DT_DIR) {
				char *sub;
				if (asprintf(&sub, "%s/%s", path, e->d_name) > 0) put(sub);
			} else if (e->d_type == DT_REG) {
				int f = openat(dirfd(d), e->d_name, O_RDONLY | O_CLOEXEC);
				if (f < 0) continue;
				while (read(f, buf, SIZE) > 0) {}
				close(f);
			}
		}
		if (d) closedir(d);
		free(path);
		finish();
	}
	return unused;
}

int main(int argc, char **argv) {
	pthread_t other;
	if (argc != 2) return 2;
	put(strdup(argv[1]));
	pthread_create(&other, NULL, work, NULL);
	work(NULL);
	pthread_join(other, NULL);
	return 0;
}
