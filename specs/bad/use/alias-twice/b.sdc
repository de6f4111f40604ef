sdc 1

sensitive by dominance(n: 1, k: 80%)
