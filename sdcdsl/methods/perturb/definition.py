"""The definition of the method by the forms in which its cells are published."""

from sdcdsl.methods.forms.model import FormsModel
from sdcdsl.methods.perturb.model import shape

DEFINITION = FormsModel(shape)
