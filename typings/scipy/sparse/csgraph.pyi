import numpy as np
from scipy.sparse import sparray

def connected_components(csgraph: sparray, directed: bool = True) -> tuple[int, np.ndarray]: ...
