/* Asks boxes how they add, from several threads: one that is a device, one that adds in binary32, and one that fails. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "roundoff.h"

enum { THREADS = 4 };

static int device(void *context, const roundoff_matrix *x, const roundoff_matrix *y, const roundoff_matrix *scale_x,
	const roundoff_matrix *scale_y, const roundoff_matrix *c, const roundoff_matrix *d) {
	return roundoff_dot((const char *)context, x, y, scale_x, scale_y, c, d, NULL, NULL);
}

static int halves(void *context, const roundoff_matrix *x, const roundoff_matrix *y, const roundoff_matrix *scale_x,
	const roundoff_matrix *scale_y, const roundoff_matrix *c, const roundoff_matrix *d) {
	const float *p = (const float *)x->data, *q = (const float *)y->data;
	int64_t i, k = x->columns;
	if (scale_x != NULL || scale_y != NULL || y->row_stride != 4 * k || y->column_stride != 4 || d->rows != x->rows || strcmp(d->format, "binary32") != 0)
		return 2;
	++*(int *)context;
	for (i = 0; i < x->rows; i++, p += k, q += k) {
		float first = p[0] * q[0] + p[1] * q[1], second = p[2] * q[2] + p[3] * q[3];
		((float *)d->data)[i] = ((const float *)c->data)[i] + (first + second);
	}
	return 0;
}

static int fails(void *context, const roundoff_matrix *x, const roundoff_matrix *y, const roundoff_matrix *scale_x,
	const roundoff_matrix *scale_y, const roundoff_matrix *c, const roundoff_matrix *d) {
	(void)context, (void)x, (void)y, (void)scale_x, (void)scale_y, (void)c, (void)d;
	return -3;
}

static void *work(void *failed) {
	static const int32_t stop = 1;
	static char volta[] = "{\"device\": \"volta\"}";
	char *answer = NULL;
	int calls = 0;
	if (roundoff_infer("{\"k\": 4}", device, volta, NULL, &answer) != ROUNDOFF_OK ||
		strstr(answer, "\"Catalogue\":[\"volta-mma-binary16-binary32\"]") == NULL)
		*(int *)failed = __LINE__;
	roundoff_free(answer);
	if (roundoff_infer("{\"in\": \"binary32\", \"k\": 4, \"order\": true}", halves, &calls, NULL, &answer) != ROUNDOFF_OK ||
		strstr(answer, "\"Additions\":[[0,1],[2,3],[4,5],[-1,6]]") == NULL || calls == 0)
		*(int *)failed = __LINE__;
	roundoff_free(answer);
	if (roundoff_infer(NULL, fails, NULL, NULL, &answer) != ROUNDOFF_FAILED || strcmp(answer, "box returned -3 to 1500 dot products") != 0)
		*(int *)failed = __LINE__;
	roundoff_free(answer);
	if (roundoff_infer("", NULL, NULL, NULL, &answer) != ROUNDOFF_ARGUMENT || strcmp(answer, "box is NULL, want a function") != 0)
		*(int *)failed = __LINE__;
	roundoff_free(answer);
	if (roundoff_infer("{\"k\": 4}", device, volta, &stop, NULL) != ROUNDOFF_CANCELLED)
		*(int *)failed = __LINE__;
	return NULL;
}

int main(void) {
	pthread_t threads[THREADS];
	int failed[THREADS] = {0}, i, status = 0;
	for (i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, &failed[i]);
	for (i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		if (failed[i]) {
			printf("line %d failed\n", failed[i]);
			status = 1;
		}
	}
	return status;
}
