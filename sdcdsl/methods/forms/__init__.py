"""Any mixture of forms of publication, by one cutting-plane model: rounding, perturbation and their combinations."""
