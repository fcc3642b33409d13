"""Atomic loads and stores for Python without a GIL. With a GIL they are plain loads and stores.

A table that fills while it is used is filled by one thread (in a critical section, or from `flag_taken` to `flag_left`), and read by all:
an entry is made whole first and published last. What was published stays as it is for as long as the table.
"""

cdef extern from *:
    """
    #ifdef Py_GIL_DISABLED
    #define KWIRE_FREE_THREADED 1
    #define KWIRE_PUBLISHED(place) _Py_atomic_load_int_acquire(place)
    #define KWIRE_PUBLISH(place, value) _Py_atomic_store_int_release((place), (value))
    #define KWIRE_PUBLISHED_POINTER(place) _Py_atomic_load_ptr_acquire((void *)(place))
    #define KWIRE_PUBLISH_POINTER(place, value) _Py_atomic_store_ptr_release((void *)(place), (void *)(value))
    #define KWIRE_FLAG_TAKEN(flag) (_Py_atomic_exchange_int((flag), 1) == 0)
    #define KWIRE_FLAG_LEFT(flag) _Py_atomic_store_int_release((flag), 0)
    #else
    #define KWIRE_FREE_THREADED 0
    #define KWIRE_PUBLISHED(place) (*(place))
    #define KWIRE_PUBLISH(place, value) (*(place) = (value))
    #define KWIRE_FLAG_TAKEN(flag) (*(flag) ? 0 : (*(flag) = 1))
    #define KWIRE_FLAG_LEFT(flag) (*(flag) = 0)
    #define KWIRE_PUBLISHED_POINTER(place) (*(void **)(place))
    #define KWIRE_PUBLISH_POINTER(place, value) (*(void **)(place) = (void *)(value))
    #endif
    """
    bint FREE_THREADED "KWIRE_FREE_THREADED"
    int published "KWIRE_PUBLISHED"(const int* place) noexcept nogil
    void publish "KWIRE_PUBLISH"(int* place, int value) noexcept nogil
    void* published_pointer "KWIRE_PUBLISHED_POINTER"(const void* place) noexcept nogil
    void publish_pointer "KWIRE_PUBLISH_POINTER"(void* place, const void* value) noexcept nogil
    bint flag_taken "KWIRE_FLAG_TAKEN"(int* flag) noexcept nogil  # whether it was free
    void flag_left "KWIRE_FLAG_LEFT"(int* flag) noexcept nogil
