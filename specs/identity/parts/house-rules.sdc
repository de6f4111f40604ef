sdc 1

sensitive by dominance(n: 2, k: 85%)
