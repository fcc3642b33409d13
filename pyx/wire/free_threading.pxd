"""What code that the GIL guards elsewhere needs in a Python without one. Where there is a GIL these are plain loads and stores.

A table that fills while it is used is filled by one thread (in a critical section, or from `flag_taken` to `flag_left`), and read by all:
an entry is made whole first and published last. What was published stays as it is for as long as the table.
"""

cdef extern from *:
    """
    #ifdef Py_GIL_DISABLED
    #define KWIRE_FREE_THREADED 1
    #define KWIRE_PUBLISHED(place) __atomic_load_n((place), __ATOMIC_ACQUIRE)
    #define KWIRE_PUBLISH(place, value) __atomic_store_n((place), (value), __ATOMIC_RELEASE)
    #define KWIRE_FLAG_TAKEN(flag) (__atomic_exchange_n((flag), 1, __ATOMIC_ACQUIRE) == 0)
    #define KWIRE_FLAG_LEFT(flag) __atomic_store_n((flag), 0, __ATOMIC_RELEASE)
    #else
    #define KWIRE_FREE_THREADED 0
    #define KWIRE_PUBLISHED(place) (*(place))
    #define KWIRE_PUBLISH(place, value) (*(place) = (value))
    #define KWIRE_FLAG_TAKEN(flag) (*(flag) ? 0 : (*(flag) = 1))
    #define KWIRE_FLAG_LEFT(flag) (*(flag) = 0)
    #endif
    #define KWIRE_PUBLISHED_POINTER(place) KWIRE_PUBLISHED((void **)(place))
    #define KWIRE_PUBLISH_POINTER(place, value) KWIRE_PUBLISH((void **)(place), (void *)(value))
    """
    bint FREE_THREADED "KWIRE_FREE_THREADED"
    int published "KWIRE_PUBLISHED"(const int* place) noexcept nogil
    void publish "KWIRE_PUBLISH"(int* place, int value) noexcept nogil
    void* published_pointer "KWIRE_PUBLISHED_POINTER"(const void* place) noexcept nogil
    void publish_pointer "KWIRE_PUBLISH_POINTER"(void* place, const void* value) noexcept nogil
    bint flag_taken "KWIRE_FLAG_TAKEN"(int* flag) noexcept nogil  # whether it was free
    void flag_left "KWIRE_FLAG_LEFT"(int* flag) noexcept nogil
