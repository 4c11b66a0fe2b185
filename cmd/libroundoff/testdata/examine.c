/* Becomes the examiner, as a process of Python does: with a handler of SIGINT, and without SIGPIPE. */
#include <signal.h>
#include <stddef.h>

#include "roundoff.h"

static void keep(int s) { (void)s; }

int main(int count, char **arguments) {
	signal(SIGINT, keep);
	signal(SIGPIPE, SIG_IGN);
	roundoff_examine(count > 1 ? arguments[1] : NULL);
	return 0;
}
