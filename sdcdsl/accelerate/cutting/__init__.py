"""The cutting planes of the second models of paper 003 (Figures 4 and 7): masters over what is published, capacity cuts
from the attackers' problems."""
