"""Build id of a module: `kwire.codec.impl` rejects modules of different builds in one process.

setup.py gives the id to the compiler; modules that something else compiles have none, and are not compared.
"""

cdef extern from *:
    """
    #ifndef KWIRE_BUILD_ID
    #define KWIRE_BUILD_ID ""
    #endif
    """
    const char* KWIRE_BUILD_ID


cdef inline str build_id():
    """The version and a hash of the sources, such as ``0.1.0+5e3a97f2c41b``; empty where the compiler was given none."""
    return KWIRE_BUILD_ID.decode("ascii")
