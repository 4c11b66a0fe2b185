# The course, as nbgrader sees it. Students' code is Go, of which nbgrader knows nothing by itself.
c = get_config()  # noqa: F821
c.CourseDirectory.course_id = "roundoff"
c.ClearSolutions.code_stub = {"go": '// YOUR CODE HERE\npanic("not implemented")'}
c.ClearSolutions.begin_solution_delimeter = "BEGIN SOLUTION"
c.ClearSolutions.end_solution_delimeter = "END SOLUTION"

# A check stops itself after 15 seconds (pkg/course); this is for endless loops elsewhere. The first
# cell that uses a package may have to compile it.
c.Execute.timeout = 60
c.Execute.startup_timeout = 120
c.Execute.interrupt_on_timeout = True

# What a program prints on standard error costs no points, and is not kept unless the program ended in a
# panic: that says what was called, what came back and what was wanted.
c.Execute.coalesce_streams = True
c.IgnorePattern.enabled = True
c.IgnorePattern.pattern = r"(?s)\A(?!.*\ngoroutine \d+ \[)"
