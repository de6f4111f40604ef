"""How near does somebody come who tries to undo an adjustment? The experiments B1, B2, B3 and C of paper 002."""

from sdcdsl.risk.assess_statements import stated
from sdcdsl.risk.assessment import AT_RISK, CLASSES, SAFE, Assessment, Trial
from sdcdsl.risk.drawing import drawing
from sdcdsl.risk.experiments import assess, unfit

__all__ = ["AT_RISK", "CLASSES", "SAFE", "Assessment", "Trial", "assess", "drawing", "stated", "unfit"]
