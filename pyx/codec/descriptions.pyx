# cython: language_level=3, binding=False
"""Docstrings of native functions and classes, which are those of their contracts in Python.

CPython reads the docstring and the signature of a compiled function or class from one C string; its pointer is replaced here.
"""

from inspect import Parameter, signature
from types import BuiltinMethodType, GetSetDescriptorType, MethodDescriptorType

from cpython.bytes cimport PyBytes_AS_STRING
from cpython.object cimport PyObject, PyTypeObject

from build_id cimport build_id

__all__ = ["describe"]
__build__ = build_id()

cdef extern from "Python.h":
    ctypedef struct PyMethodDef:
        const char* ml_doc
    ctypedef struct PyGetSetDef:
        const char* doc
    ctypedef struct PyCFunctionObject:
        PyMethodDef* m_ml
    ctypedef struct PyMethodDescrObject:
        PyMethodDef* d_method
    ctypedef struct PyGetSetDescrObject:
        PyGetSetDef* d_getset
    unsigned long Py_TPFLAGS_HEAPTYPE

cdef dict kept = {}  # the texts: C has their pointers


cdef const char* lasting(str text):
    content = text.encode()
    return PyBytes_AS_STRING(kept.setdefault(content, content))


cdef str head_of(object target, object contract):
    """Name and signature as `inspect` reads them, without annotations."""
    text = getattr(target, "__text_signature__", None)
    if text is None:
        given = signature(contract)
        plain = [each.replace(annotation=Parameter.empty) for each in given.parameters.values()]
        text = given.replace(parameters=plain, return_annotation=Parameter.empty)
    return f"{target.__name__}{text}\n--\n\n"


def describe(target, contract):
    """Give a function, or a class and its methods, the docstrings of a contract; those that it lacks stay."""
    doc = contract.__doc__
    if isinstance(target, type):
        for name, member in vars(target).items():
            if not name.startswith("_") and hasattr(contract, name):
                describe(member, getattr(contract, name))
    if doc is None:
        return
    if isinstance(target, GetSetDescriptorType):
        (<PyGetSetDescrObject*><PyObject*>target).d_getset.doc = lasting(doc)
    elif isinstance(target, MethodDescriptorType):
        (<PyMethodDescrObject*><PyObject*>target).d_method.ml_doc = lasting(head_of(target, contract) + doc)
    elif isinstance(target, BuiltinMethodType):
        (<PyCFunctionObject*><PyObject*>target).m_ml.ml_doc = lasting(head_of(target, contract) + doc)
    elif isinstance(target, type) and not (<PyTypeObject*><PyObject*>target).tp_flags & Py_TPFLAGS_HEAPTYPE:
        (<PyTypeObject*><PyObject*>target).tp_doc = lasting(head_of(target, contract) + doc)
