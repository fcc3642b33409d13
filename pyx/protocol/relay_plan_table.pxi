# The plan of a relay as C arrays; part of relay.pyx.

from cpython.mem cimport PyMem_Calloc, PyMem_Free
from libc.string cimport memset

from codec.edit_run cimport EditDoor, edit_of
from codec.program cimport program_lower, program_release
from protocol.relay_table cimport KEYS, REQUEST_HEADERS, VERSIONS, RelayTable

from kwire.codec.classes import compiled
from kwire.codec.edits import Edit
from kwire.protocol.relay.heads import API_VERSIONS, PRODUCE
from kwire.protocol.relay.observed import error_at, is_flexible
from kwire.protocol.relay.plan import MOST_KEYS, MOST_VERSIONS
from kwire.protocol.tracking.passing import plan_up_to_acks


@cython.final
cdef class PlanTable:
    """The C arrays of a plan."""

    def __cinit__(self, plan):
        cdef RelayTable* table = &self.table
        cdef int key, version
        if MOST_KEYS != KEYS or MOST_VERSIONS != VERSIONS:
            raise ImportError("the table of a plan has another size in Python")
        memset(table, 0, sizeof(RelayTable))
        source = compiled()
        for version in range(REQUEST_HEADERS):
            program_lower(&table.request_headers[version], source.decoder("RequestHeader", version).plan, 0)
        table.unknown = plan.action("request", KEYS, 0)
        for key in range(KEYS):
            for version in range(VERSIONS):
                table.known[key][version] = plan.is_known(key, version)
                table.requests[key][version] = plan.action("request", key, version)
                table.responses[key][version] = plan.action("response", key, version)
                header = plan.header_version(key, version)
                table.errors_at[key][version] = error_at(key, version)
                table.flexible_answers[key][version] = is_flexible(key, version)
                table.header_versions[key][version] = -1 if header is None else header
        for version in range(VERSIONS):
            if table.known[PRODUCE][version]:
                program_lower(&table.up_to_acks[version], plan_up_to_acks(version), 0)
        self.lower_programs(plan)
        versions = plan.versions_of(API_VERSIONS)
        table.lowest, table.highest = (-1, -1) if versions is None else versions

    cdef int lower_programs(self, plan) except -1:
        """Find the programs that need no Python: those of an Edit that is of its frames."""
        cdef int key, version, side, number
        cdef int32_t action
        self.programs = [each.program if isinstance(each, Edit) else None for each in plan.programs]
        self.programs = [each if getattr(each, "capsule", None) is not None else None for each in self.programs]
        for side, direction in enumerate(DIRECTIONS):
            for key in range(KEYS):
                for version in range(VERSIONS):
                    action = self.table.requests[key][version] if side == REQUEST else self.table.responses[key][version]
                    if action > 0:
                        edit = plan.programs[action - 1]
                        if isinstance(edit, Edit) and (edit.direction, edit.api_key, edit.api_version) != (direction, key, version):
                            self.programs[action - 1] = None
        self.table.programs = <const EditDoor**>PyMem_Calloc(len(self.programs) + 1, sizeof(EditDoor*))
        if self.table.programs is NULL:
            raise MemoryError
        for number, program in enumerate(self.programs):
            if program is not None:
                self.table.programs[number] = edit_of(program.capsule)
        return 0

    def __dealloc__(self):
        cdef int version
        PyMem_Free(self.table.programs)
        for version in range(REQUEST_HEADERS):
            program_release(&self.table.request_headers[version])
        for version in range(VERSIONS):
            program_release(&self.table.up_to_acks[version])
