//go:build cgo && linux

#include "api.h"
#include <dlfcn.h>

// What a call of an optional function gives that the library does not have.
#define DEFINE(library, result, name, parameters, arguments) \
	static result(*p_##name) parameters; \
	result call_##name parameters { return p_##name ? p_##name arguments : (result)0; }
FUNCTIONS(DEFINE, DEFINE)

#define REQUIRED(library, result, name, parameters, arguments) {library, 1, #name, (void **)&p_##name},
#define OPTIONAL(library, result, name, parameters, arguments) {library, 0, #name, (void **)&p_##name},

static const struct {
	int library, required;
	const char *name;
	void **pointer;
} functions[] = {FUNCTIONS(REQUIRED, OPTIONAL)};

enum { function_count = sizeof functions / sizeof *functions };

const char *ro_bind(int library, void *handle) {
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
