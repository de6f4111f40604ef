"""The simplex method: a bounded tableau, batches of objectives over it, a revised form, a dual one."""
