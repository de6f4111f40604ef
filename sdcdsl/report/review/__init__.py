"""What those who review a release are given beside it: every cell with its true value and the reason why it is hidden.

All of it is confidential.
"""
