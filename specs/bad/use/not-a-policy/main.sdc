sdc 1
# A CSV file is not a policy.
use "cells.csv"
