/* sgemm m k n: prints the speed of OpenBLAS, in million multiply-adds per
 * second, for a row-major m x k by k x n product of binary32 numbers. The speed
 * is the median of runs that take a fifth of a second in all. */
#include <cblas.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MAX_RUNS = 1000 };

static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
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

int main(int argc, char **argv) {
	if (argc != 4) {
		fputs("usage: sgemm m k n\n", stderr);
		return 2;
	}
	int m = atoi(argv[1]), k = atoi(argv[2]), n = atoi(argv[3]);
	float *a = uniform((size_t)m * k), *b = uniform((size_t)k * n), *c = uniform((size_t)m * n);

	static double seconds[MAX_RUNS];
	int runs = 0;
	double total = 0;
	cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1, a, k, b, n, 0, c, n);
	while (runs < 3 || (total < 0.2 && runs < MAX_RUNS)) {
		double start = now();
		cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1, a, k, b, n, 0, c, n);
		total += seconds[runs++] = now() - start;
	}
	qsort(seconds, runs, sizeof *seconds, by_value);
	printf("%.0f\n", 1e-6 * m * k * n / seconds[runs / 2]);
	return 0;
}
