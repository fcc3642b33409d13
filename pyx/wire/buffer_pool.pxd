"""Memory for columns, and the pool that it comes back to.

Memory that is new to the process costs several times what filling it costs, for the system clears each page: a reader that goes from batch
to batch lives in the same pages. Blocks have sizes in steps of a quarter; the pool keeps a list for each size, `KEPT_BYTES` together, one
pool for each compiled module; where that is full, what was not used for longest goes. Blocks may be given back by any thread, without the
GIL: that is how Arrow releases what it imported. No thread waits for it: one that finds it in use goes to the allocator instead, so that
neither threads nor a fork can get stuck.

Blocks come from Python's raw allocator, so `tracemalloc` sees them. Under AddressSanitizer nothing is kept or rounded up, so that it sees a
read or write behind the end.

C-level entry for other modules: `take_block`, `grow_block`, `give_block`.
"""

from libc.stdint cimport uint8_t

cdef extern from *:
    """
    #include <stddef.h>
    #include <stdint.h>
    #include <string.h>

    #if defined(__SANITIZE_ADDRESS__)
    #define KWIRE_KEPT_BYTES ((size_t)0)
    #else
    #define KWIRE_KEPT_BYTES ((size_t)128 << 20)
    #endif
    #define KWIRE_BLOCK_HEAD 64  /* in front of a block's bytes, whose alignment it keeps */
    #define KWIRE_BLOCK_BINS 256
    #define KWIRE_HUGE ((size_t)1 << 21)

    #if defined(_MSC_VER)
    #include <intrin.h>
    #define KWIRE_TAKE_FLAG(flag) (_InterlockedExchange((volatile long *)(flag), 1) == 0)
    #define KWIRE_LEAVE_FLAG(flag) _InterlockedExchange((volatile long *)(flag), 0)
    #define KWIRE_COUNT_DOWN(count) _InterlockedDecrement((volatile long *)(count))
    #define KWIRE_COUNT_UP(count) _InterlockedIncrement((volatile long *)(count))
    #else
    #define KWIRE_TAKE_FLAG(flag) (__atomic_exchange_n(flag, 1, __ATOMIC_ACQUIRE) == 0)
    #define KWIRE_LEAVE_FLAG(flag) __atomic_store_n(flag, 0, __ATOMIC_RELEASE)
    #define KWIRE_COUNT_DOWN(count) __atomic_sub_fetch(count, 1, __ATOMIC_ACQ_REL)
    #define KWIRE_COUNT_UP(count) __atomic_add_fetch(count, 1, __ATOMIC_RELAXED)
    #endif

    #if defined(__linux__)
    #include <sys/mman.h>
    #endif

    typedef struct kwire_block {
        struct kwire_block *next, *before;  /* of the same size in the pool */
        struct kwire_block *newer, *older;  /* of all in the pool */
        size_t room;
        int bin;
    } kwire_block;

    static struct {
        kwire_block *bins[KWIRE_BLOCK_BINS];
        kwire_block *newest, *oldest;
        size_t kept;
        long busy;
    } kwire_pool;

    static inline kwire_block *kwire_block_of(void *data) { return (kwire_block *)((char *)data - KWIRE_BLOCK_HEAD); }

    static inline size_t kwire_block_room(void *data) { return kwire_block_of(data)->room; }

    /* Which list a size belongs to; the size is rounded up to that of its blocks: 4, 5, 6 or 7 times a power of two times 64. */
    static inline int kwire_block_bin(size_t *size) {
        size_t units = (*size + 63) / 64;
        int doublings = 0;
        if (units == 0) units = 1;
        while (units >= 8) {
            units = (units + 1) / 2;
            doublings++;
        }
    #if !defined(__SANITIZE_ADDRESS__)
        *size = units << doublings << 6;
    #endif
        return 4 * doublings + (int)units;
    }

    static void *kwire_new_block(size_t size, int bin) {
        char *memory = (char *)PyMem_RawMalloc(size + KWIRE_BLOCK_HEAD);
        kwire_block *block = (kwire_block *)memory;
        if (memory == NULL) return NULL;
    #if defined(__linux__) && defined(MADV_HUGEPAGE)
        if (size >= 2 * KWIRE_HUGE) {  /* one fault for 2 MiB where the system allows it; it may refuse */
            uintptr_t first = ((uintptr_t)memory + KWIRE_HUGE - 1) & ~(KWIRE_HUGE - 1);
            (void)madvise((void *)first, ((uintptr_t)memory + size - first) & ~(KWIRE_HUGE - 1), MADV_HUGEPAGE);
        }
    #endif
        block->room = size;
        block->bin = bin;
        return memory + KWIRE_BLOCK_HEAD;
    }

    static void kwire_pool_add(kwire_block *block) {
        block->before = NULL;
        block->next = kwire_pool.bins[block->bin];
        if (block->next != NULL) block->next->before = block;
        kwire_pool.bins[block->bin] = block;
        block->newer = NULL;
        block->older = kwire_pool.newest;
        if (block->older != NULL) block->older->newer = block;
        else kwire_pool.oldest = block;
        kwire_pool.newest = block;
        kwire_pool.kept += block->room;
    }

    static void kwire_pool_remove(kwire_block *block) {
        if (block->before != NULL) block->before->next = block->next;
        else kwire_pool.bins[block->bin] = block->next;
        if (block->next != NULL) block->next->before = block->before;
        if (block->newer != NULL) block->newer->older = block->older;
        else kwire_pool.newest = block->older;
        if (block->older != NULL) block->older->newer = block->newer;
        else kwire_pool.oldest = block->newer;
        kwire_pool.kept -= block->room;
    }

    static void *kwire_take_block(size_t size) {
        int bin = kwire_block_bin(&size);
        if (KWIRE_TAKE_FLAG(&kwire_pool.busy)) {
            kwire_block *block = kwire_pool.bins[bin];
            if (block != NULL) kwire_pool_remove(block);
            KWIRE_LEAVE_FLAG(&kwire_pool.busy);
            if (block != NULL) return (char *)block + KWIRE_BLOCK_HEAD;
        }
        return kwire_new_block(size, bin);
    }

    static void kwire_give_block(void *data) {
        kwire_block *block;
        if (data == NULL) return;
        block = kwire_block_of(data);
        if (block->room <= KWIRE_KEPT_BYTES && KWIRE_TAKE_FLAG(&kwire_pool.busy)) {
            while (kwire_pool.kept + block->room > KWIRE_KEPT_BYTES) {
                kwire_block *oldest = kwire_pool.oldest;
                kwire_pool_remove(oldest);
                PyMem_RawFree(oldest);
            }
            kwire_pool_add(block);
            block = NULL;
            KWIRE_LEAVE_FLAG(&kwire_pool.busy);
        }
        PyMem_RawFree(block);
    }

    /* Give what is kept back to the allocator. */
    static void kwire_empty_pool(void) {
        if (!KWIRE_TAKE_FLAG(&kwire_pool.busy)) return;
        while (kwire_pool.oldest != NULL) {
            kwire_block *oldest = kwire_pool.oldest;
            kwire_pool_remove(oldest);
            PyMem_RawFree(oldest);
        }
        KWIRE_LEAVE_FLAG(&kwire_pool.busy);
    }

    /* A block of `size` bytes with the first `used` ones of `data`, which is given back; on failure NULL, and `data` is as it was. */
    static void *kwire_grow_block(void *data, size_t used, size_t size) {
        void *grown = kwire_take_block(size);
        if (grown != NULL && data != NULL) {
            memcpy(grown, data, used);
            kwire_give_block(data);
        }
        return grown;
    }
    """
    uint8_t* take_block "(uint8_t *)kwire_take_block"(size_t size) noexcept nogil  # NULL without memory
    uint8_t* grow_block "(uint8_t *)kwire_grow_block"(void* data, size_t used, size_t size) noexcept nogil
    void give_block "kwire_give_block"(void* data) noexcept nogil
    void empty_pool "kwire_empty_pool"() noexcept nogil
    size_t block_room "kwire_block_room"(void* data) noexcept nogil
    long count_down "KWIRE_COUNT_DOWN"(long* count) noexcept nogil
    long count_up "KWIRE_COUNT_UP"(long* count) noexcept nogil
