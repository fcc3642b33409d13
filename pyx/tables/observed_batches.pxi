# Part of bulk.pyx: what serves as the `ColumnBuilder` of `topic_use`, whose rows lie in `RowBatches`.


cdef class ObservedBatches:
    """Rows of `topic_use`, in the order in which native code and Python make them."""

    cdef RowBatches owner

    def __init__(self, RowBatches owner):
        self.owner = owner

    def add(self, row):
        self.owner.add_topic_use(row)

    def take(self, *, whole):
        return self.owner.take("topic_use", whole=whole)
