/* Adds four products to a number as a V100 and as an H100 do, and names the tightest bound on longer sums. In C or C++:
 *
 *	go build -buildmode=c-shared -o libroundoff.so ./cmd/libroundoff
 *	cc -std=c99 -I cmd/libroundoff cmd/libroundoff/example/example.c -L . -lroundoff -o example
 *	LD_LIBRARY_PATH=. ./example
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "roundoff.h"

/* Prints what is wrong, and ends the program. */
static void fail(char *answer) {
	fprintf(stderr, "%s\n", answer);
	roundoff_free(answer);
	exit(1);
}

/* Returns a matrix of binary32 whose rows follow each other. */
static roundoff_matrix matrix(float *data, int64_t rows, int64_t columns) {
	roundoff_matrix m;
	m.format = "binary32";
	m.data = data;
	m.rows = rows;
	m.columns = columns;
	m.row_stride = columns * (int64_t)sizeof(float);
	m.column_stride = sizeof(float);
	return m;
}

int main(void) {
	float x[] = {-4096, -0.5f, -0.25f, -0.125f}, y[] = {2048, 1, 1, 1}, eight = 8388608, sum;
	const char *devices[] = {"volta", "hopper"};
	roundoff_matrix a = matrix(x, 1, 4), b = matrix(y, 1, 4), c = matrix(&eight, 1, 1), d = matrix(&sum, 1, 1);
	char question[100], *answer;
	size_t i;

	for (i = 0; i < 2; i++) {
		sprintf(question, "{\"device\": \"%s\"}", devices[i]);
		if (roundoff_dot(question, &a, &b, NULL, NULL, &c, &d, NULL, &answer) != ROUNDOFF_OK)
			fail(answer);
		printf("%s: %g\n", answer, sum);
		roundoff_free(answer);
	}
	if (roundoff_bound("{\"device\": \"hopper\", \"k\": 4096}", NULL, NULL, &answer) != ROUNDOFF_OK)
		fail(answer);
	printf("%.*s\n", (int)strcspn(answer, ","), answer);
	roundoff_free(answer);

	if (roundoff_dot("{\"device\": \"pascal\"}", &a, &b, NULL, NULL, &c, &d, NULL, &answer) != ROUNDOFF_ARGUMENT)
		fail(answer);
	printf("%.*s\n", (int)strcspn(answer, ","), answer);
	roundoff_free(answer);
	return 0;
}
