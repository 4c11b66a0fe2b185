"""Makes the student versions of all assignments, in FOLDER/release:

    python release.py FOLDER
"""

import sys

import grade


def main(folder):
    course = grade.Course(folder, 0)
    log = open(course.log, "w")
    for assignment in course.assignments:
        result = course.api.generate_assignment(assignment, force=True)
        log.write(result.get("log", "") + result.get("error", ""))
        log.flush()
        if not result["success"]:
            sys.exit(f"course: {assignment} is not released; {course.log} has the details")
        print(f"course: {course.folder}/release/{assignment}")


if __name__ == "__main__":
    main(sys.argv[1])
