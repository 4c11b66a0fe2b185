/* sgemm answers questions for the speed of OpenBLAS on one thread. It first
 * prints the name of the core whose routines OpenBLAS uses. For every line of
 * its input, "m k n", it prints the speed in million multiply-adds per second,
 * for a row-major m x k by k x n product of binary32 numbers. The speed is that
 * of the median of runs that take a twentieth of a second in all, by the time
 * of the processor, which other programs do not change; or, if it is started
 * with the argument clock, by the clock, or with fastest that of the fastest
 * run by the clock. */
#include <cblas.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_RUNS = 1000 };

static clockid_t timer = CLOCK_PROCESS_CPUTIME_ID;
static int fastest;

static double now(void) {
	struct timespec t;
	clock_gettime(timer, &t);
	return t.tv_sec + 1e-9 * t.tv_nsec;
}

static float *uniform(size_t n) {
	float *x = malloc(n * sizeof *x);
	if (!x) {
		fputs("sgemm: out of memory\n", stderr);
		exit(1);
	}
	for (size_t i = 0; i < n; i++)
		x[i] = 2.0f * rand() / RAND_MAX - 1;
	return x;
}

static int by_value(const void *a, const void *b) {
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static double speed(int m, int k, int n) {
	float *a = uniform((size_t)m * k), *b = uniform((size_t)k * n), *c = uniform((size_t)m * n);
	static double seconds[MAX_RUNS];
	int runs = 0;
	double total = 0;
	cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1, a, k, b, n, 0, c, n);
	while (runs < 3 || (total < 0.05 && runs < MAX_RUNS)) {
		double start = now();
		cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1, a, k, b, n, 0, c, n);
		total += seconds[runs++] = now() - start;
	}
	qsort(seconds, runs, sizeof *seconds, by_value);
	free(a);
	free(b);
	free(c);
	return 1e-6 * m * k * n / seconds[fastest ? 0 : runs / 2];
}

int main(int argc, char **argv) {
	int m, k, n;
	if (argc > 1) {
		timer = CLOCK_MONOTONIC;
		fastest = !strcmp(argv[1], "fastest");
	}
	openblas_set_num_threads(1);
	printf("%s\n", openblas_get_corename());
	fflush(stdout);
	while (scanf("%d %d %d", &m, &k, &n) == 3) {
		printf("%.0f\n", speed(m, k, n));
		fflush(stdout);
	}
	return 0;
}
