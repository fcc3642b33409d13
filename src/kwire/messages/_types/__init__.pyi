# Made from the catalog by tools/build_stubs.py; a change here is lost.
