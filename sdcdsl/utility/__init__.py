"""What a release costs its readers: the same measures for every method, so that methods can be compared."""

from sdcdsl.utility.measures import DeviationMeasures, Measures, Spread, Widths, measure

__all__ = ["DeviationMeasures", "Measures", "Spread", "Widths", "measure"]
