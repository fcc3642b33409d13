"""Objects of Python's own slotted classes, made and read without a call: where their slots lie is asked of their member descriptors.

For classes whose objects both twins must make alike, such as the events of a connection; those of messages are `codec/slotted.pxd`'s.
"""

from cpython.object cimport PyObject, PyTypeObject

cdef extern from *:
    """
    #include <structmember.h>
    #ifndef Py_T_OBJECT_EX  /* before CPython 3.12 */
    #define Py_T_OBJECT_EX T_OBJECT_EX
    #endif

    /* Which slot a class has under this name; -1 and an ImportError where it has none, or something besides slots. */
    static Py_ssize_t kwire_slot_index(PyObject *type, PyObject *name, Py_ssize_t count) {
        PyTypeObject *of = (PyTypeObject *)type;
        PyObject *found = PyObject_GetAttr(type, name);
        if (found == NULL) return -1;
        Py_ssize_t index = -1;
        if (Py_TYPE(found) == &PyMemberDescr_Type && of->tp_itemsize == 0
            && of->tp_basicsize == (Py_ssize_t)(sizeof(PyObject) + (size_t)count * sizeof(PyObject *))) {
            PyMemberDef *member = ((PyMemberDescrObject *)found)->d_member;
            Py_ssize_t behind = member->offset - (Py_ssize_t)sizeof(PyObject);
            if (member->type == Py_T_OBJECT_EX && behind >= 0 && behind % (Py_ssize_t)sizeof(PyObject *) == 0
                && behind / (Py_ssize_t)sizeof(PyObject *) < count) {
                index = behind / (Py_ssize_t)sizeof(PyObject *);
            }
        }
        Py_DECREF(found);
        if (index < 0) PyErr_Format(PyExc_ImportError, "%R is no class of %zd slots with one named %R", type, count, name);
        return index;
    }

    static inline PyObject *kwire_python_new(PyTypeObject *type) { return type->tp_alloc(type, 0); }
    #define KWIRE_PYTHON_SLOTS(self) ((PyObject **)((char *)(self) + sizeof(PyObject)))
    """
    Py_ssize_t slot_index "kwire_slot_index"(object type, object name, Py_ssize_t count) except -1
    PyObject* python_new "kwire_python_new"(PyTypeObject* type) noexcept
    PyObject** python_slots "KWIRE_PYTHON_SLOTS"(void* self) noexcept nogil
