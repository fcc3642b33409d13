"""Column functions for Spark without `arrow_udf` (before 4.1): the same Arrow functions, called through pandas.

A `pandas_udf` returns structs as a DataFrame, in which a row cannot be null. So the column is set to null afterwards where the bytes are
null; in SQL (`kwire.spark.register`) it is a struct of nulls.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from kwire.codec.arrow_types import spark_type

__all__ = ["hinted", "pandas_function"]


def hinted(call: Any, takes: int, name: str, given: Any, returned: Any) -> Any:
    """Return a function of so many columns: Spark reads parameters and their hints, and names the column after the function."""

    def of_one(first: Any) -> Any:
        return call(first)

    def of_two(first: Any, second: Any) -> Any:
        return call(first, second)

    def of_three(first: Any, second: Any, third: Any) -> Any:
        return call(first, second, third)

    function: Any = (of_one, of_two, of_three)[takes - 1]
    function.__annotations__ = dict.fromkeys(function.__annotations__, given) | {"return": returned}
    function.__name__ = name
    return function


def pandas_function(make: Any, name: str) -> Any:
    import pandas as pd  # type: ignore[import-untyped]
    from pyspark.sql.functions import pandas_udf  # type: ignore[attr-defined,unused-ignore] # exported by a star only

    is_struct = pa.types.is_struct(make.type)

    def call(*series: Any) -> Any:
        # structs come as DataFrames
        given = (each.to_dict("records") if isinstance(each, pd.DataFrame) else each for each in series)
        made = make(*(pa.array(each, from_pandas=True) for each in given))
        if not is_struct:
            return pd.Series(made.to_pylist(maps_as_pydicts="lossy"), dtype=object)
        columns = {field.name: made.field(index) for index, field in enumerate(made.type)}
        found = {name: pd.Series(values.to_pylist(maps_as_pydicts="lossy"), dtype=object) for name, values in columns.items()}
        return pd.DataFrame(found, columns=list(columns))

    returned = pd.DataFrame if is_struct else pd.Series
    return pandas_udf(hinted(call, make.takes, name, pd.Series, returned), spark_type(make.type))
