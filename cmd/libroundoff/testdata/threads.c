/* Calls functions from many threads, with wrong pointers and without an answer, and compares sums. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "roundoff.h"

enum { N = 48, THREADS = 8, TIMES = 20 };

static float x[N * N], first[N * N];

static roundoff_matrix matrix(float *data) {
	roundoff_matrix m = {"binary32", data, N, N, N * sizeof(float), sizeof(float)};
	return m;
}

static void *work(void *failed) {
	static const int32_t stop = 1;
	float sum[N * N];
	int i;
	for (i = 0; i < TIMES; i++) {
		roundoff_matrix a = matrix(x), b = matrix(x), d = matrix(sum);
		char *answer = NULL;
		if (roundoff_gemm("{\"device\": \"hopper\"}", &a, &b, NULL, &d, NULL, NULL) != ROUNDOFF_OK || memcmp(sum, first, sizeof sum) != 0)
			*(int *)failed = __LINE__;
		if (roundoff_gemm("", &a, &b, NULL, NULL, NULL, &answer) != ROUNDOFF_ARGUMENT || strcmp(answer, "d is NULL, want a matrix") != 0)
			*(int *)failed = __LINE__;
		roundoff_free(answer);
		b.data = NULL;
		if (roundoff_exact(NULL, &a, &b, &d, NULL, NULL, &answer) != ROUNDOFF_ARGUMENT || strcmp(answer, "b.data is NULL") != 0)
			*(int *)failed = __LINE__;
		roundoff_free(answer);
		b = matrix(x);
		if (roundoff_gemm(NULL, &a, &b, NULL, &d, &stop, &answer) != ROUNDOFF_CANCELLED)
			*(int *)failed = __LINE__;
		roundoff_free(answer);
		d = matrix(x + 1);
		if (roundoff_gemm(NULL, &a, &b, NULL, &d, NULL, &answer) != ROUNDOFF_ARGUMENT || strstr(answer, "overlaps") == NULL)
			*(int *)failed = __LINE__;
		roundoff_free(answer);
	}
	return NULL;
}

int main(void) {
	pthread_t threads[THREADS];
	int failed[THREADS] = {0}, i, status = 0;
	roundoff_matrix a = matrix(x), d = matrix(first);
	for (i = 0; i < N * N; i++)
		x[i] = (float)(i % 89 - 44) / 7;
	if (roundoff_gemm(NULL, &a, &a, NULL, &d, NULL, NULL) != ROUNDOFF_OK)
		return 1;
	for (i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, &failed[i]);
	for (i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		if (failed[i]) {
			printf("line %d failed\n", failed[i]);
			status = 1;
		}
	}
	roundoff_free(NULL);
	return status;
}
