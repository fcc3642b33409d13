"""Objects that are a row of pointers: a Python object header, then one slot per field, each at a fixed offset.

The memory rules of message objects in one place. A slot is NULL when it holds nothing, which makes it safe to release a half-filled object.
An object that the cyclic collector should know is tracked by its maker once it is whole. Behind the slots of a message there is one word
more: the list of weak references to it, NULL until there is one.
"""

from cpython.object cimport PyObject, PyTypeObject

cdef extern from *:
    """
    #include <structmember.h>
    #include <string.h>

    #ifndef Py_T_OBJECT_EX  /* before CPython 3.12 */
    #define Py_T_OBJECT_EX T_OBJECT_EX
    #define Py_T_PYSSIZET T_PYSSIZET
    #define Py_READONLY READONLY
    #endif

    #if defined(__GNUC__)  /* loops over a few slots stay loops: a call of memcpy costs more */
    #define KWIRE_NO_CALL __asm__ volatile("")
    #else
    #define KWIRE_NO_CALL
    #endif

    #define KWIRE_SLOTS(self) ((PyObject **)((char *)(self) + sizeof(PyObject)))
    /* Words behind the header: the slots, and in a message the list of weak references. */
    #define KWIRE_WORDS(type) (((type)->tp_basicsize - (Py_ssize_t)sizeof(PyObject)) / (Py_ssize_t)sizeof(PyObject *))
    #define KWIRE_SLOT_COUNT(type) (KWIRE_WORDS(type) - ((type)->tp_weaklistoffset > 0))

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

    /* Memory of released objects, kept for the next ones: lists of blocks by number of words, apart for objects with a collector's header.
       Messages come and go by the hundred, and this is quicker than any allocator. One pool a process, shared by our modules, guarded by
       the GIL; never more than KWIRE_POOL_BLOCKS blocks of a size. Without a GIL, or where a sanitizer should see every release, none is
       kept. */
    #define KWIRE_POOL_WORDS 25
    #define KWIRE_POOL_BLOCKS 512
    typedef struct {
        void *blocks[2][KWIRE_POOL_WORDS];
        int counts[2][KWIRE_POOL_WORDS];
        int depth;  /* of releases inside releases */
        void *waiting;  /* released objects whose slots are not */
    } kwire_pool;
    static kwire_pool *kwire_pool_in_use = NULL;
    /* Modules of different builds must not share a pool: its shape is part of the name by which they find it. */
    #define KWIRE_TEXT(number) KWIRE_TEXT_OF(number)
    #define KWIRE_TEXT_OF(number) #number
    #define KWIRE_POOL_NAME "kwire.pool of 2 x " KWIRE_TEXT(KWIRE_POOL_WORDS) " x " KWIRE_TEXT(KWIRE_POOL_BLOCKS)

    #if defined(Py_GIL_DISABLED) || defined(__SANITIZE_ADDRESS__)
    #define KWIRE_POOLED(words) 0
    #else
    #define KWIRE_POOLED(words) ((words) < KWIRE_POOL_WORDS)
    #endif

    /* Memory for an object of so many words, its header made, its slots not. */
    static inline PyObject *kwire_slotted_take(PyTypeObject *type, Py_ssize_t words, int collected) {
        PyObject *self;
        if (KWIRE_POOLED(words) && kwire_pool_in_use->blocks[collected][words] != NULL) {
            self = (PyObject *)kwire_pool_in_use->blocks[collected][words];
            kwire_pool_in_use->blocks[collected][words] = *(void **)self;
            kwire_pool_in_use->counts[collected][words]--;
    #if PY_VERSION_HEX < 0x030E0000 && !defined(Py_REF_DEBUG) && !defined(Py_GIL_DISABLED)
            self->ob_refcnt = 1;
            Py_SET_TYPE(self, type);
            Py_INCREF(type);
    #else
            PyObject_Init(self, type);
    #endif
            return self;
        }
        return collected ? PyObject_GC_New(PyObject, type) : PyObject_New(PyObject, type);
    }

    /* A new object with empty slots, not tracked. */
    static inline PyObject *kwire_slotted_new(PyTypeObject *type) {
        Py_ssize_t words = KWIRE_WORDS(type);
        PyObject *self = kwire_slotted_take(type, words, PyType_IS_GC(type) != 0);
        if (self != NULL) memset(KWIRE_SLOTS(self), 0, (size_t)words * sizeof(PyObject *));
        return self;
    }

    /* What the messages of one kind begin with: a value, or NULL, for each slot. */
    typedef struct {
        PyTypeObject *type;
        int collected;
        int count;
        PyObject **values;
        PyObject **held;  /* the values that are not NULL */
        int held_count;
    } kwire_beginning;

    static inline PyObject *kwire_slotted_begin(const kwire_beginning *beginning) {
        PyObject *self = kwire_slotted_take(beginning->type, beginning->count + 1, beginning->collected);
        if (self == NULL) return NULL;
        KWIRE_SLOTS(self)[beginning->count] = NULL;  /* no weak references */
        for (int i = 0; i < beginning->count; i++) {
            KWIRE_SLOTS(self)[i] = beginning->values[i];
            KWIRE_NO_CALL;
        }
        for (int i = 0; i < beginning->held_count; i++) {
            Py_INCREF(beginning->held[i]);
            KWIRE_NO_CALL;
        }
        return self;
    }

    static PyObject *kwire_slotted_alloc(PyTypeObject *type, Py_ssize_t Py_UNUSED(items)) {
        PyObject *self = kwire_slotted_new(type);
        if (self != NULL && PyType_IS_GC(type)) PyObject_GC_Track(self);
        return self;
    }

    static inline void kwire_slotted_free(PyObject *self) {
        PyTypeObject *type = Py_TYPE(self);
        Py_ssize_t count = KWIRE_SLOT_COUNT(type);
        Py_ssize_t words = KWIRE_WORDS(type);
        int collected = PyType_IS_GC(type) != 0;
        for (Py_ssize_t i = 0; i < count; i++) Py_XDECREF(KWIRE_SLOTS(self)[i]);
        if (KWIRE_POOLED(words) && kwire_pool_in_use->counts[collected][words] < KWIRE_POOL_BLOCKS) {
            *(void **)self = kwire_pool_in_use->blocks[collected][words];
            kwire_pool_in_use->blocks[collected][words] = self;
            kwire_pool_in_use->counts[collected][words]++;
        } else {
            type->tp_free(self);
        }
        Py_DECREF(type);
    }

    /* A chain of objects that a user tied must not exhaust the stack, whether the collector knows them or not (CPython's own trashcan is
       for those that it knows): from some depth on, objects wait for the outermost release to come back. */
    #define KWIRE_RELEASE_DEPTH 100

    static void kwire_slotted_dealloc(PyObject *self) {
        Py_ssize_t references = Py_TYPE(self)->tp_weaklistoffset;
        if (PyType_IS_GC(Py_TYPE(self))) PyObject_GC_UnTrack(self);
        if (references > 0 && *(PyObject **)((char *)self + references) != NULL) PyObject_ClearWeakRefs(self);
    #ifdef Py_GIL_DISABLED
        if (PyType_IS_GC(Py_TYPE(self))) {
            Py_TRASHCAN_BEGIN(self, kwire_slotted_dealloc)
            kwire_slotted_free(self);
            Py_TRASHCAN_END
        } else {
            kwire_slotted_free(self);
        }
    #else
        if (kwire_pool_in_use->depth >= KWIRE_RELEASE_DEPTH) {
            *(void **)self = kwire_pool_in_use->waiting;
            kwire_pool_in_use->waiting = self;
            return;
        }
        kwire_pool_in_use->depth++;
        kwire_slotted_free(self);
        while (kwire_pool_in_use->depth == 1 && kwire_pool_in_use->waiting != NULL) {
            self = (PyObject *)kwire_pool_in_use->waiting;
            kwire_pool_in_use->waiting = *(void **)self;
            kwire_slotted_free(self);
        }
        kwire_pool_in_use->depth--;
    #endif
    }

    /* A slot of a struct may hold LATER (see structs.pyx): its value, an object of defaults, is made when it is first asked for. Whoever
       looks into slots has to know it. Such slots are read and written by functions, all others as plain members, which CPython loads
       without a call. */
    typedef struct {
        const char *name;
        getter get;
        setter set;
    } kwire_attribute;  /* get and set are NULL for a plain member; they are given the index of the slot */

    /* The tables of functions of all types: descriptors read them where they are, and one may outlive every dictionary that held it. */
    static PyGetSetDef *kwire_slotted_functions = NULL;
    #ifdef Py_GIL_DISABLED
    static PyMutex kwire_slotted_functions_lock;
    #endif

    static void kwire_slotted_keep(PyGetSetDef *functions, Py_ssize_t count) {
    #ifdef Py_GIL_DISABLED
        PyMutex_Lock(&kwire_slotted_functions_lock);
    #endif
        functions[count + 1].closure = kwire_slotted_functions;  /* behind the empty one that ends the table */
        kwire_slotted_functions = functions;
    #ifdef Py_GIL_DISABLED
        PyMutex_Unlock(&kwire_slotted_functions_lock);
    #endif
    }

    /* The type of messages with these slots: a heap type, final, collected where `tracked`. The names must never be freed, for the same
       reason. */
    static inline PyObject *kwire_slotted_type(
        const char *name, PyObject *bases, const kwire_attribute *attributes, Py_ssize_t count, int tracked
    ) {
        PyMemberDef *members = PyMem_Calloc((size_t)count + 2, sizeof(PyMemberDef));
        PyGetSetDef *functions = NULL;
        Py_ssize_t plain = 0, called = 0;
        for (Py_ssize_t i = 0; i < count; i++) called += attributes[i].get != NULL;
        if (called) functions = PyMem_Calloc((size_t)called + 2, sizeof(PyGetSetDef));
        if (members == NULL || (called && functions == NULL)) {
            PyMem_Free(members);
            return PyErr_NoMemory();
        }
        called = 0;
        for (Py_ssize_t i = 0; i < count; i++) {
            if (attributes[i].get != NULL) {
                functions[called].name = attributes[i].name;
                functions[called].get = attributes[i].get;
                functions[called].set = attributes[i].set;
                functions[called++].closure = (void *)i;
            } else {
                members[plain].name = attributes[i].name;
                members[plain].type = Py_T_OBJECT_EX;  /* the one kind of member with CPython's fast attribute load */
                members[plain++].offset = (Py_ssize_t)sizeof(PyObject) + i * (Py_ssize_t)sizeof(PyObject *);
            }
        }
        members[plain].name = "__weaklistoffset__";  /* by this name CPython finds the word */
        members[plain].type = Py_T_PYSSIZET;
        members[plain].flags = Py_READONLY;
        members[plain].offset = (Py_ssize_t)sizeof(PyObject) + count * (Py_ssize_t)sizeof(PyObject *);
        PyType_Slot slots[7];
        int used = 0;
        slots[used++] = (PyType_Slot){Py_tp_members, members};
        slots[used++] = (PyType_Slot){Py_tp_alloc, (void *)kwire_slotted_alloc};
        slots[used++] = (PyType_Slot){Py_tp_dealloc, (void *)kwire_slotted_dealloc};
        if (functions != NULL) slots[used++] = (PyType_Slot){Py_tp_getset, functions};
        if (tracked) {
            slots[used++] = (PyType_Slot){Py_tp_traverse, (void *)kwire_slotted_traverse};
            slots[used++] = (PyType_Slot){Py_tp_clear, (void *)kwire_slotted_clear};
        }
        slots[used] = (PyType_Slot){0, NULL};
        PyType_Spec spec = {
            name, (int)(sizeof(PyObject) + ((size_t)count + 1) * sizeof(PyObject *)), 0,
            Py_TPFLAGS_DEFAULT | (tracked ? Py_TPFLAGS_HAVE_GC : 0), slots
        };
        PyObject *type = PyType_FromSpecWithBases(&spec, bases);
        PyMem_Free(members);
        if (type == NULL) PyMem_Free(functions);
        else if (functions != NULL) kwire_slotted_keep(functions, called);
        return type;
    }

    /* A type with the slots of `base`, a class of Python with nothing but __slots__, whose objects come and go as those of messages do. */
    static inline PyObject *kwire_slotted_subtype(const char *name, PyObject *base) {
        PyType_Slot slots[] = {
            {Py_tp_alloc, (void *)kwire_slotted_alloc},
            {Py_tp_dealloc, (void *)kwire_slotted_dealloc},
            {Py_tp_traverse, (void *)kwire_slotted_traverse},
            {Py_tp_clear, (void *)kwire_slotted_clear},
            {0, NULL},
        };
        PyType_Spec spec = {
            name, (int)((PyTypeObject *)base)->tp_basicsize, 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, slots
        };
        return PyType_FromSpecWithBases(&spec, base);
    }

    /* The pool of the process as a capsule: made by the module that owns the types, used by every module that makes objects of them. */
    static inline PyObject *kwire_pool_make(void) {
        static kwire_pool pool;
        kwire_pool_in_use = &pool;
        return PyCapsule_New(&pool, KWIRE_POOL_NAME, NULL);
    }

    static inline int kwire_pool_use(PyObject *capsule) {
        if (!PyCapsule_IsValid(capsule, KWIRE_POOL_NAME)) {
            PyErr_SetString(PyExc_ImportError, "the compiled modules of kwire are not of one build; build them all again");
            return -1;
        }
        kwire_pool_in_use = PyCapsule_GetPointer(capsule, KWIRE_POOL_NAME);
        return 0;
    }

    /* Slots while other threads may change them. With a GIL none does between two calls of Python; without one, a slot is read
       and written in the critical section of its object, as CPython's own members are. */
    #ifdef Py_GIL_DISABLED
    static inline PyObject *kwire_slot_get(PyObject *self, Py_ssize_t index) {
        PyObject *value;
        Py_BEGIN_CRITICAL_SECTION(self);
        value = Py_XNewRef(KWIRE_SLOTS(self)[index]);
        Py_END_CRITICAL_SECTION();
        return value;
    }

    static inline PyObject *kwire_slot_swap(PyObject *self, Py_ssize_t index, PyObject *value) {
        PyObject *old;
        Py_BEGIN_CRITICAL_SECTION(self);
        old = KWIRE_SLOTS(self)[index];
        _Py_atomic_store_ptr_release(&KWIRE_SLOTS(self)[index], value);  /* CPython loads members without the lock */
        Py_END_CRITICAL_SECTION();
        return old;
    }

    static inline void kwire_slot_replace(PyObject *self, Py_ssize_t index, PyObject *expected, PyObject *value) {
        PyObject *out = value;
        Py_BEGIN_CRITICAL_SECTION(self);
        if (KWIRE_SLOTS(self)[index] == expected) {
            _Py_atomic_store_ptr_release(&KWIRE_SLOTS(self)[index], value);
            out = expected;
        }
        Py_END_CRITICAL_SECTION();
        Py_DECREF(out);
    }

    /* What is in the slots of an object, held while it is read: its lists as tuples, for other threads may change them too. */
    typedef struct {
        PyObject *few[24];
        PyObject **slots;
        Py_ssize_t count;
    } kwire_held_slots;

    /* As the object, for those who only look into its slots; without memory they are empty. */
    static inline PyObject *kwire_slots_hold(PyObject *self, Py_ssize_t count, kwire_held_slots *held) {
        held->count = count;
        held->slots = held->few;
        if (count > 24) held->slots = (PyObject **)PyMem_Malloc((size_t)count * sizeof(PyObject *));
        if (held->slots == NULL) {
            static PyObject *none[1024];
            held->count = 0;
            return (PyObject *)((char *)none - sizeof(PyObject));
        }
        Py_BEGIN_CRITICAL_SECTION(self);
        for (Py_ssize_t i = 0; i < count; i++) held->slots[i] = Py_XNewRef(KWIRE_SLOTS(self)[i]);
        Py_END_CRITICAL_SECTION();
        for (Py_ssize_t i = 0; i < count; i++) {
            PyObject *list = held->slots[i];
            if (list == NULL || !PyList_CheckExact(list)) continue;
            held->slots[i] = PyList_AsTuple(list);
            if (held->slots[i] == NULL) PyErr_Clear();
            Py_DECREF(list);
        }
        return (PyObject *)((char *)held->slots - sizeof(PyObject));
    }

    static inline void kwire_slots_release(kwire_held_slots *held) {
        for (Py_ssize_t i = 0; i < held->count; i++) Py_XDECREF(held->slots[i]);
        if (held->slots != held->few) PyMem_Free(held->slots);
    }
    #else
    typedef char kwire_held_slots;
    static inline PyObject *kwire_slot_get(PyObject *self, Py_ssize_t index) {
        PyObject *value = KWIRE_SLOTS(self)[index];
        Py_XINCREF(value);
        return value;
    }

    static inline PyObject *kwire_slot_swap(PyObject *self, Py_ssize_t index, PyObject *value) {
        PyObject *old = KWIRE_SLOTS(self)[index];
        KWIRE_SLOTS(self)[index] = value;
        return old;
    }

    static inline void kwire_slot_replace(PyObject *self, Py_ssize_t index, PyObject *expected, PyObject *value) {
        PyObject *out = value;
        if (KWIRE_SLOTS(self)[index] == expected) {
            KWIRE_SLOTS(self)[index] = value;
            out = expected;
        }
        Py_DECREF(out);
    }

    #define kwire_slots_hold(self, count, held) ((void)(count), (void)(held), (PyObject *)(self))
    #define kwire_slots_release(held) ((void)(held))
    #endif

    /* What a slot gave, as the caller's own; NULL is never given. */
    static inline PyObject *kwire_owned(PyObject *value) { return value; }

    static inline int kwire_is_slotted(PyTypeObject *type) {
        return type->tp_dealloc == kwire_slotted_dealloc;
    }
    """
    PyObject** slots_of "KWIRE_SLOTS"(void* self) noexcept nogil
    Py_ssize_t slot_count "KWIRE_SLOT_COUNT"(PyTypeObject* type) noexcept nogil
    PyObject* slotted_new "kwire_slotted_new"(PyTypeObject* type) noexcept
    ctypedef struct Beginning "kwire_beginning":
        PyTypeObject* type
        int collected
        int count
        PyObject** values
        PyObject** held
        int held_count
    PyObject* slotted_begin "kwire_slotted_begin"(const Beginning* beginning) noexcept
    ctypedef object (*Getter "getter")(object self, void* index)
    ctypedef int (*Setter "setter")(object self, PyObject* value, void* index) except -1
    ctypedef struct Attribute "kwire_attribute":
        const char* name
        Getter get
        Setter set
    object slotted_type "kwire_slotted_type"(
        const char* name, object bases, const Attribute* attributes, Py_ssize_t count, bint tracked
    )
    object slotted_subtype "kwire_slotted_subtype"(const char* name, object base)
    object pool_make "kwire_pool_make"()
    int pool_use "kwire_pool_use"(object capsule) except -1
    bint is_slotted "kwire_is_slotted"(PyTypeObject* type) noexcept nogil
    PyObject* slot_get "kwire_slot_get"(void* self, Py_ssize_t index) noexcept  # a new reference, or NULL
    PyObject* slot_swap "kwire_slot_swap"(void* self, Py_ssize_t index, PyObject* value) noexcept  # takes a reference, gives the old one
    void slot_replace "kwire_slot_replace"(void* self, Py_ssize_t index, PyObject* expected, PyObject* value) noexcept
    object slot_owned "kwire_owned"(PyObject* value)
    ctypedef struct HeldSlots "kwire_held_slots":
        pass
    PyObject* slots_hold "kwire_slots_hold"(PyObject* self, Py_ssize_t count, HeldSlots* held) noexcept
    void slots_release "kwire_slots_release"(HeldSlots* held) noexcept
