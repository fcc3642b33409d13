# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=clinic
"""The encode executor of the native twin. The readable contract is `kwire.codec._pure.message_writer`."""

cimport cython

from kwire.codec.write_walk import write_carefully

__all__ = ["Encoder"]


@cython.final
cdef class Encoder:
    """Executes one plan; arguments and errors as in the pure twin."""

    cdef readonly object plan
    cdef readonly tuple classes

    def __cinit__(self, plan, tuple classes):
        self.plan = plan
        self.classes = classes

    def __reduce__(self):
        return Encoder, (self.plan, self.classes)

    def encode(self, message, bytes before=b""):
        """Write one message; see the pure twin."""
        return write_carefully(self.plan, self.classes, message, before)
