#!/bin/sh
# usage: tools/wheels/environment.sh REQUIREMENTS FOLDER
# Makes a virtual environment of what a file of requirements lists; pip refuses a file whose hash is another, and a package that is not listed.
set -eu
python=${PYTHON:-python3}
"$python" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))' ||
    { echo "kwire: Python 3.10 or newer with its venv module is needed ($python has not)" >&2; exit 1; }
rm -rf "$2"
"$python" -m venv "$2"
"$2/bin/python" -m pip --disable-pip-version-check install -q --require-hashes --only-binary :all: -r "$1"
