"""One call at a time for objects that keep state between calls, such as a connection: in a Python without a GIL a second thread gets a
RuntimeError instead of half-changed memory. Where there is a GIL it does this work, and all of this compiles to nothing.

`one_at_a_time` wraps the methods and attributes of a type, so that none can be forgotten. The turn is the object's, or that of an object
which owns it: a connection that a detector feeds has the detector's. A thread may call again while it has the turn, as callbacks do.

What waits instead has a `WaitingTurn`: relays that count in the same counters.

C-level entry for other modules: `turn_begin`, `turn_end`, `turn_share`, `turn_leave`, `one_at_a_time`,
`waiting_turn_begin`, `waiting_turn_end`.
"""

from cpython.object cimport PyObject

cdef extern from *:
    """
    #ifdef Py_GIL_DISABLED
    #include <stdint.h>
    #include <string.h>

    typedef struct {
        uintptr_t thread;  /* whose call runs, 0 for none */
        int depth;  /* of its calls inside calls */
        Py_ssize_t owners;
    } kwire_turn;

    static inline void kwire_turn_leave(kwire_turn *turn) {
        if (turn != NULL && _Py_atomic_add_ssize(&turn->owners, -1) == 1) PyMem_RawFree(turn);
    }

    /* The turn at a place, made when it is first asked for. */
    static inline kwire_turn *kwire_turn_at(kwire_turn **place) {
        kwire_turn *found = (kwire_turn *)_Py_atomic_load_ptr_acquire(place);
        kwire_turn *made;
        if (found != NULL) return found;
        made = (kwire_turn *)PyMem_RawCalloc(1, sizeof(kwire_turn));
        if (made == NULL) {
            PyErr_NoMemory();
            return NULL;
        }
        made->owners = 1;
        if (_Py_atomic_compare_exchange_ptr(place, &found, made)) return made;
        PyMem_RawFree(made);
        return found;
    }

    /* Begin a call; `held` is to be ended. */
    static inline int kwire_turn_begin(kwire_turn **place, PyObject *self, kwire_turn **held) {
        uintptr_t thread = (uintptr_t)PyThread_get_thread_ident(), no_thread = 0;
        kwire_turn *turn = kwire_turn_at(place);
        *held = NULL;
        if (turn == NULL) return -1;
        if (_Py_atomic_load_uintptr_relaxed(&turn->thread) != thread) {
            if (!_Py_atomic_compare_exchange_uintptr(&turn->thread, &no_thread, thread)) {
                const char *name = strrchr(Py_TYPE(self)->tp_name, '.');
                PyErr_Format(
                    PyExc_RuntimeError, "two threads use one %s at once: give it to one thread, or guard its calls with a lock",
                    name == NULL ? Py_TYPE(self)->tp_name : name + 1
                );
                return -1;
            }
        }
        turn->depth++;
        _Py_atomic_add_ssize(&turn->owners, 1);
        *held = turn;
        return 0;
    }

    static inline void kwire_turn_end(kwire_turn *turn) {
        if (turn == NULL) return;
        if (--turn->depth == 0) _Py_atomic_store_uintptr_release(&turn->thread, 0);
        kwire_turn_leave(turn);
    }

    /* Give a new object the turn of the one that owns it. */
    static inline int kwire_turn_share(kwire_turn **to, kwire_turn **of) {
        kwire_turn *turn = kwire_turn_at(of);
        if (turn == NULL) return -1;
        if (*to != turn) {
            kwire_turn_leave(*to);
            _Py_atomic_add_ssize(&turn->owners, 1);
            _Py_atomic_store_ptr_release(to, turn);
        }
        return 0;
    }

    /* Where the turn of an object is; NULL for one that has none, as it was never begun. */
    typedef kwire_turn **(*kwire_turn_of)(PyObject *self);

    /* A method, or an attribute, of a type whose calls have turns. It stands in the type's dictionary for the one it calls. */
    typedef struct {
        PyObject_HEAD
        vectorcallfunc call;
        PyObject *inner;
        PyTypeObject *type;
        kwire_turn_of turn_of;
    } kwire_guarded;

    static int kwire_guarded_begin(kwire_guarded *guarded, PyObject *self, kwire_turn **held) {
        kwire_turn **place;
        *held = NULL;
        if (!PyObject_TypeCheck(self, guarded->type)) return 0;  /* what is guarded refuses it */
        place = guarded->turn_of(self);
        return place == NULL ? 0 : kwire_turn_begin(place, self, held);
    }

    static PyObject *kwire_guarded_vectorcall(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *names) {
        kwire_guarded *guarded = (kwire_guarded *)self;
        kwire_turn *held = NULL;
        PyObject *result;
        if (PyVectorcall_NARGS(nargsf) > 0 && kwire_guarded_begin(guarded, args[0], &held) < 0) return NULL;
        result = PyObject_Vectorcall(guarded->inner, args, nargsf, names);
        kwire_turn_end(held);
        return result;
    }

    static PyObject *kwire_guarded_bind(PyObject *self, PyObject *object, PyObject *Py_UNUSED(type)) {
        if (object == NULL || object == Py_None) return Py_NewRef(self);
        return PyMethod_New(self, object);
    }

    static PyObject *kwire_guarded_get(PyObject *self, PyObject *object, PyObject *type) {
        kwire_guarded *guarded = (kwire_guarded *)self;
        kwire_turn *held;
        PyObject *result;
        if (object == NULL || object == Py_None) return Py_NewRef(self);
        if (kwire_guarded_begin(guarded, object, &held) < 0) return NULL;
        result = Py_TYPE(guarded->inner)->tp_descr_get(guarded->inner, object, type);
        kwire_turn_end(held);
        return result;
    }

    static int kwire_guarded_set(PyObject *self, PyObject *object, PyObject *value) {
        kwire_guarded *guarded = (kwire_guarded *)self;
        kwire_turn *held;
        int result;
        if (kwire_guarded_begin(guarded, object, &held) < 0) return -1;
        result = Py_TYPE(guarded->inner)->tp_descr_set(guarded->inner, object, value);
        kwire_turn_end(held);
        return result;
    }

    /* Its name, its documentation and all else are those of what it calls. */
    static PyObject *kwire_guarded_getattr(PyObject *self, PyObject *name) {
        return PyObject_GetAttr(((kwire_guarded *)self)->inner, name);
    }

    static PyObject *kwire_guarded_repr(PyObject *self) { return PyObject_Repr(((kwire_guarded *)self)->inner); }

    static PyTypeObject kwire_guarded_method = {
        PyVarObject_HEAD_INIT(NULL, 0)
        .tp_name = "kwire.guarded_method",
        .tp_basicsize = sizeof(kwire_guarded),
        .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR | Py_TPFLAGS_DISALLOW_INSTANTIATION,
        .tp_vectorcall_offset = offsetof(kwire_guarded, call),
        .tp_call = PyVectorcall_Call,
        .tp_descr_get = kwire_guarded_bind,
        .tp_getattro = kwire_guarded_getattr,
        .tp_repr = kwire_guarded_repr,
    };

    static PyTypeObject kwire_guarded_attribute = {
        PyVarObject_HEAD_INIT(NULL, 0)
        .tp_name = "kwire.guarded_attribute",
        .tp_basicsize = sizeof(kwire_guarded),
        .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
        .tp_descr_get = kwire_guarded_get,
        .tp_descr_set = kwire_guarded_set,
        .tp_getattro = kwire_guarded_getattr,
        .tp_repr = kwire_guarded_repr,
    };

    /* Guard all methods and attributes of an extension type that was just made. */
    static int kwire_one_at_a_time(PyObject *of, kwire_turn_of turn_of) {
        PyTypeObject *type = (PyTypeObject *)of;
        PyObject *dict = PyType_GetDict(type), *items = NULL;
        int result = -1;
        if (dict == NULL || PyType_Ready(&kwire_guarded_method) < 0 || PyType_Ready(&kwire_guarded_attribute) < 0) goto done;
        items = PyDict_Items(dict);
        if (items == NULL) goto done;
        for (Py_ssize_t index = 0; index < PyList_GET_SIZE(items); index++) {
            PyObject *name = PyTuple_GET_ITEM(PyList_GET_ITEM(items, index), 0);
            PyObject *inner = PyTuple_GET_ITEM(PyList_GET_ITEM(items, index), 1);
            int is_attribute = Py_TYPE(inner)->tp_descr_set != NULL;
            kwire_guarded *made;
            if (Py_TYPE(inner)->tp_descr_get == NULL || PyObject_TypeCheck(inner, &PyType_Type)) continue;
            if (Py_IS_TYPE(inner, &PyStaticMethod_Type) || Py_IS_TYPE(inner, &PyClassMethod_Type)) continue;
            if (Py_IS_TYPE(inner, &PyClassMethodDescr_Type) || Py_IS_TYPE(inner, &PyWrapperDescr_Type)) continue;
            made = PyObject_New(kwire_guarded, is_attribute ? &kwire_guarded_attribute : &kwire_guarded_method);
            if (made == NULL) goto done;
            made->call = kwire_guarded_vectorcall;
            made->inner = Py_NewRef(inner);
            made->type = type;
            made->turn_of = turn_of;
            if (PyDict_SetItem(dict, name, (PyObject *)made) < 0) goto done;  /* types of modules live as long as the process */
            Py_DECREF(made);
        }
        PyType_Modified(type);
        result = 0;
    done:
        Py_XDECREF(items);
        Py_XDECREF(dict);
        return result;
    }

    /* A turn that others wait for: of what objects share that are for a thread each. */
    typedef struct {
        PyMutex mutex;
        uintptr_t thread;
        int depth;
    } kwire_waiting_turn;

    static inline void kwire_waiting_turn_begin(kwire_waiting_turn *turn) {
        uintptr_t thread = (uintptr_t)PyThread_get_thread_ident();
        if (_Py_atomic_load_uintptr_relaxed(&turn->thread) != thread) {
            PyMutex_Lock(&turn->mutex);
            _Py_atomic_store_uintptr_release(&turn->thread, thread);
        }
        turn->depth++;
    }

    static inline void kwire_waiting_turn_end(kwire_waiting_turn *turn) {
        if (--turn->depth) return;
        _Py_atomic_store_uintptr_release(&turn->thread, 0);
        PyMutex_Unlock(&turn->mutex);
    }

    #else
    typedef char kwire_turn;
    typedef char kwire_waiting_turn;
    #define kwire_waiting_turn_begin(turn) ((void)(turn))
    #define kwire_waiting_turn_end(turn) ((void)(turn))
    #define kwire_turn_leave(turn) ((void)(turn))
    #define kwire_turn_begin(place, self, held) ((void)(place), (void)(self), *(held) = NULL, 0)
    #define kwire_turn_end(turn) ((void)(turn))
    #define kwire_turn_share(to, of) ((void)(to), (void)(of), 0)
    #define kwire_one_at_a_time(of, turn_of) ((void)(of), (void)(turn_of), 0)
    #endif
    """
    ctypedef struct Turn "kwire_turn":
        pass
    int turn_begin "kwire_turn_begin"(Turn** place, object self, Turn** held) except -1
    void turn_end "kwire_turn_end"(Turn* held) noexcept
    int turn_share "kwire_turn_share"(Turn** to, Turn** of) except -1
    void turn_leave "kwire_turn_leave"(Turn* turn) noexcept
    ctypedef struct WaitingTurn "kwire_waiting_turn":
        pass
    void waiting_turn_begin "kwire_waiting_turn_begin"(WaitingTurn* turn) noexcept
    void waiting_turn_end "kwire_waiting_turn_end"(WaitingTurn* turn) noexcept
    ctypedef Turn** (*TurnOf)(PyObject* self) noexcept
    int one_at_a_time "kwire_one_at_a_time"(object kind, TurnOf turn_of) except -1
