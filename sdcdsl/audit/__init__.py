"""Attacks a release as every attacker would, and believes only what arithmetic confirms."""

from sdcdsl.audit.audit import NOT_EXCLUDED, Audit, audit
from sdcdsl.audit.certify import certify
from sdcdsl.audit.sums import audit_release

__all__ = ["NOT_EXCLUDED", "Audit", "audit", "audit_release", "certify"]
