//go:build cgo && linux

#include "api.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

// A function that the library does not have returns a status that is not
// success, or no text and no version.
#define DEFINE(library, result, name, parameters, arguments) \
	static result(*p_##name) parameters; \
	result call_##name parameters { return p_##name ? p_##name arguments : _Generic((result)0, int: -1, default: (result)0); }
FUNCTIONS(DEFINE, DEFINE)

#define REQUIRED(library, result, name, parameters, arguments) {library, 1, #name, (void **)&p_##name},
#define OPTIONAL(library, result, name, parameters, arguments) {library, 0, #name, (void **)&p_##name},

static const struct {
	int library, required;
	const char *name;
	void **pointer;
} functions[] = {FUNCTIONS(REQUIRED, OPTIONAL)};

enum { function_count = sizeof functions / sizeof *functions };

// find finds the functions of a library, given the result of dlopen. It returns
// NULL, or the name of a required function that is missing; then no function is
// changed.
static const char *find(int library, void *handle) {
	void *found[function_count];
	for (int i = 0; i < function_count; i++) {
		if (functions[i].library != library)
			continue;
		found[i] = dlsym(handle, functions[i].name);
		if (!found[i] && functions[i].required)
			return functions[i].name;
	}
	for (int i = 0; i < function_count; i++)
		if (functions[i].library == library)
			*functions[i].pointer = found[i];
	return NULL;
}

static atomic_int opening;

static void ended(void) {
	if (opening) {
		fputs("a library of CUDA ended the program\n", stderr);
		_exit(1);
	}
}

static void mind(void) { atexit(ended); }

void ro_opening(int more) {
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, mind);
	opening += more;
}

int ro_open(int library, const char *path, char *wrong, size_t n) {
	ro_opening(1);
	void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	ro_opening(-1);
	if (!handle) {
		const char *why = dlerror();
		snprintf(wrong, n, "%s", why ? why : "cannot be opened");
		return 0;
	}
	const char *missing = find(library, handle);
	if (missing) {
		snprintf(wrong, n, "has no %s", missing);
		dlclose(handle);
	}
	return !missing;
}
