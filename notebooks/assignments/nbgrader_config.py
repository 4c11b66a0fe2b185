# The course, as nbgrader sees it. Students' code is Go, of which nbgrader knows nothing by itself.
from nbgrader.preprocessors import (
    AssignLatePenalties, CheckCellMetadata, Execute, LimitOutput, NbGraderPreprocessor, SaveAutoGrades)

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


class Streams(NbGraderPreprocessor):
    """Joins what a cell printed, piece by piece, and drops what it printed on standard error, which would
    cost its points, unless it failed: then that says what was called, what came back and what was wanted."""

    def preprocess_cell(self, cell, resources, cell_index):
        outputs = []
        failed = any(o.output_type == "error" for o in cell.get("outputs", []))
        for output in cell.get("outputs", []):
            stream = output.get("name")
            if stream == "stderr" and not failed:
                continue
            if stream and outputs and outputs[-1].get("name") == stream:
                outputs[-1].text += output.text
            else:
                outputs.append(output)
        if cell.cell_type == "code":
            cell.outputs = outputs
        return cell, resources


c.Autograde.autograde_preprocessors = [
    Execute, Streams, LimitOutput, SaveAutoGrades, AssignLatePenalties, CheckCellMetadata]
