from kwire.capture import carry

__all__ = ["SeriesCarry"]

class SeriesCarry(carry.SeriesCarry): ...
