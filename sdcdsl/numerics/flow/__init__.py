"""Networks: recognising that relations are flow balances, and maximum flows with their minimum cuts."""
