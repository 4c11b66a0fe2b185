# Jupyter keeps what it writes in .venv, or in what $venv names, nothing in the person's home.
jupyter="$PWD/${venv:-.venv}/jupyter"
export JUPYTER_CONFIG_DIR="$jupyter/config" JUPYTER_DATA_DIR="$jupyter/data" JUPYTER_RUNTIME_DIR="$jupyter/runtime"
export IPYTHONDIR="$jupyter/ipython" PYDEVD_DISABLE_FILE_VALIDATION=1
mkdir -p "$IPYTHONDIR"
