# Part of bulk.pyx: what serves as a `ColumnBuilder` for rows that lie in `RowBatches`.


cdef class ObservedBatches:
    """The rows of a table that shared make and those that Python makes, in their order; as a `ColumnBuilder`.

    Arguments:
        owner: keeps them.
        table: `group_steps` or `topic_use`.
    """

    cdef RowBatches owner
    cdef str table

    def __init__(self, RowBatches owner, table):
        self.owner, self.table = owner, table

    def add(self, row):
        """Append a row, values in the schema's order."""
        self.owner.add_observed(self.table, row)

    def take(self, *, whole):
        """Give away the full batches, and with `whole` the rows of the one that is begun too."""
        return self.owner.take(self.table, whole=whole)
