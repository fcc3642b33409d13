"""Objects that are a row of pointers: a Python object header, then one slot per field, each at a fixed offset.

The memory rules of message objects in one place. A slot is NULL when it holds nothing, which makes it safe to release a half-filled object.
An object that the cyclic collector should know is tracked by its maker once it is whole.
"""

from cpython.object cimport PyObject, PyTypeObject

cdef extern from *:
    """
    #include <structmember.h>
    #include <string.h>

    #ifndef Py_T_OBJECT_EX  /* before CPython 3.12 */
    #define Py_T_OBJECT_EX T_OBJECT_EX
    #endif

    #define KWIRE_SLOTS(self) ((PyObject **)((char *)(self) + sizeof(PyObject)))
    #define KWIRE_SLOT_COUNT(type) (((type)->tp_basicsize - (Py_ssize_t)sizeof(PyObject)) / (Py_ssize_t)sizeof(PyObject *))

    static int kwire_slotted_clear(PyObject *self) {
        Py_ssize_t count = KWIRE_SLOT_COUNT(Py_TYPE(self));
        for (Py_ssize_t i = 0; i < count; i++) Py_CLEAR(KWIRE_SLOTS(self)[i]);
        return 0;
    }

    static int kwire_slotted_traverse(PyObject *self, visitproc visit, void *arg) {
        Py_ssize_t count = KWIRE_SLOT_COUNT(Py_TYPE(self));
        for (Py_ssize_t i = 0; i < count; i++) Py_VISIT(KWIRE_SLOTS(self)[i]);
        Py_VISIT(Py_TYPE(self));  /* an instance owns a reference to its heap type */
        return 0;
    }

    /* Memory of released objects that the collector does not know, kept for the next ones: lists of blocks by number of slots. Messages
       come and go by the hundred, and this is quicker than any allocator. One pool a process, shared by our modules, guarded by the GIL;
       never more than KWIRE_POOL_BLOCKS blocks of a size. Without a GIL, or where a sanitizer should see every release, there is none. */
    #define KWIRE_POOL_SLOTS 24
    #define KWIRE_POOL_BLOCKS 512
    typedef struct {
        void *blocks[KWIRE_POOL_SLOTS];
        int counts[KWIRE_POOL_SLOTS];
    } kwire_pool;
    static kwire_pool *kwire_pool_in_use = NULL;

    #if defined(Py_GIL_DISABLED) || defined(__SANITIZE_ADDRESS__)
    #define KWIRE_POOLED(count) 0
    #else
    #define KWIRE_POOLED(count) (kwire_pool_in_use != NULL && (count) < KWIRE_POOL_SLOTS)
    #endif

    static inline void kwire_slotted_free(PyObject *self) {
        PyTypeObject *type = Py_TYPE(self);
        Py_ssize_t count = KWIRE_SLOT_COUNT(type);
        for (Py_ssize_t i = 0; i < count; i++) Py_XDECREF(KWIRE_SLOTS(self)[i]);
        if (KWIRE_POOLED(count) && !PyType_IS_GC(type) && kwire_pool_in_use->counts[count] < KWIRE_POOL_BLOCKS) {
            *(void **)self = kwire_pool_in_use->blocks[count];
            kwire_pool_in_use->blocks[count] = self;
            kwire_pool_in_use->counts[count]++;
        } else {
            type->tp_free(self);
        }
        Py_DECREF(type);
    }

    static void kwire_slotted_dealloc(PyObject *self) {
        if (!PyType_IS_GC(Py_TYPE(self))) {
            kwire_slotted_free(self);
            return;
        }
        PyObject_GC_UnTrack(self);
        Py_TRASHCAN_BEGIN(self, kwire_slotted_dealloc)  /* a chain that a user tied must not exhaust the stack */
        kwire_slotted_free(self);
        Py_TRASHCAN_END
    }

    /* A new object with empty slots, not tracked. */
    static inline PyObject *kwire_slotted_new(PyTypeObject *type) {
        Py_ssize_t count = KWIRE_SLOT_COUNT(type);
        PyObject *self;
        if (PyType_IS_GC(type)) {
            self = PyObject_GC_New(PyObject, type);
        } else if (KWIRE_POOLED(count) && kwire_pool_in_use->blocks[count] != NULL) {
            void *block = kwire_pool_in_use->blocks[count];
            kwire_pool_in_use->blocks[count] = *(void **)block;
            kwire_pool_in_use->counts[count]--;
            self = PyObject_Init((PyObject *)block, type);
        } else {
            self = PyObject_New(PyObject, type);
        }
        if (self != NULL) memset(KWIRE_SLOTS(self), 0, (size_t)(type->tp_basicsize - (Py_ssize_t)sizeof(PyObject)));
        return self;
    }

    /* The type of objects with these slots: a heap type, final, collected where `tracked`. The names must live as long as the type. */
    static inline PyObject *kwire_slotted_type(
        const char *name, PyObject *bases, const char *const *attributes, Py_ssize_t count, int tracked
    ) {
        PyMemberDef *members = PyMem_Calloc((size_t)count + 1, sizeof(PyMemberDef));
        if (members == NULL) return PyErr_NoMemory();
        for (Py_ssize_t i = 0; i < count; i++) {
            members[i].name = attributes[i];
            members[i].type = Py_T_OBJECT_EX;  /* the one kind of member with CPython's fast attribute load */
            members[i].offset = (Py_ssize_t)sizeof(PyObject) + i * (Py_ssize_t)sizeof(PyObject *);
        }
        PyType_Slot slots[] = {
            {Py_tp_members, members},
            {Py_tp_dealloc, (void *)kwire_slotted_dealloc},
            {tracked ? Py_tp_traverse : 0, (void *)kwire_slotted_traverse},
            {Py_tp_clear, (void *)kwire_slotted_clear},
            {0, NULL},
        };
        PyType_Spec spec = {
            name, (int)(sizeof(PyObject) + (size_t)count * sizeof(PyObject *)), 0,
            Py_TPFLAGS_DEFAULT | (tracked ? Py_TPFLAGS_HAVE_GC : 0), slots
        };
        PyObject *type = PyType_FromSpecWithBases(&spec, bases);
        PyMem_Free(members);
        return type;
    }

    /* The pool of the process as a capsule: made by the module that owns the types, used by every module that makes objects of them. */
    static inline PyObject *kwire_pool_make(void) {
        static kwire_pool pool;
        kwire_pool_in_use = &pool;
        return PyCapsule_New(&pool, "kwire.pool", NULL);
    }

    static inline int kwire_pool_use(PyObject *capsule) {
        kwire_pool_in_use = PyCapsule_GetPointer(capsule, "kwire.pool");
        return kwire_pool_in_use == NULL ? -1 : 0;
    }

    static inline int kwire_is_slotted(PyTypeObject *type) {
        return type->tp_dealloc == kwire_slotted_dealloc;
    }
    """
    PyObject** slots_of "KWIRE_SLOTS"(void* self) noexcept nogil
    Py_ssize_t slot_count "KWIRE_SLOT_COUNT"(PyTypeObject* type) noexcept nogil
    PyObject* slotted_new "kwire_slotted_new"(PyTypeObject* type) noexcept
    object slotted_type "kwire_slotted_type"(const char* name, object bases, const char** attributes, Py_ssize_t count, bint tracked)
    object pool_make "kwire_pool_make"()
    int pool_use "kwire_pool_use"(object capsule) except -1
    bint is_slotted "kwire_is_slotted"(PyTypeObject* type) noexcept nogil
