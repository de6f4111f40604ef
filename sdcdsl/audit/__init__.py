"""Attacks a release as every attacker would, and believes only what arithmetic confirms."""

from sdcdsl.audit.audit import Audit, audit
from sdcdsl.audit.certify import certify

__all__ = ["Audit", "audit", "certify"]
