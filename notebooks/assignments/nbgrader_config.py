# The course, as nbgrader sees it. Students' code is Go, of which nbgrader knows nothing by itself, or Python, and it
# is run where it can do no harm: by examination.py, also when a button of Formgrader asks for it.
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import bleach  # noqa: E402
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath  # noqa: E402
from nbgrader.preprocessors import LimitOutput, SaveAutoGrades  # noqa: E402

from examination import Examine  # noqa: E402

c = get_config()  # noqa: F821
c.CourseDirectory.course_id = "roundoff"
c.CourseDirectory.submitted_directory = "taken"  # what grade.py takes over of what was submitted
c.ClearSolutions.code_stub = {"go": '// YOUR CODE HERE\npanic("not implemented")',
                               "python": '# YOUR CODE HERE\nraise NotImplementedError("not implemented")'}
c.ClearSolutions.begin_solution_delimeter = "BEGIN SOLUTION"
c.ClearSolutions.end_solution_delimeter = "END SOLUTION"
c.Autograde.autograde_preprocessors = [Examine, LimitOutput, SaveAutoGrades]


tags = {*bleach.ALLOWED_TAGS, "br", "del", "div", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "p", "pre", "span",
        "table", "tbody", "td", "th", "thead", "tr"}
attributes = {"*": ["class", "id"], "a": ["href", "title"]}


def harmless(source):
    """The Markdown of a student as HTML; HTML inside it is shown as it is written, and not run."""
    html = MarkdownWithMath(renderer=IPythonRenderer(escape=True)).render(source)
    return bleach.clean(html, tags=tags, attributes=attributes)


# In Formgrader and in pages of feedback, which open where marks can be changed.
c.HTMLExporter.filters = {"markdown2html": harmless}
