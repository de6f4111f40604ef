"""The definition of the method by the forms in which its cells are published."""

from sdcdsl.methods.combined.model import shape
from sdcdsl.methods.forms.model import FormsModel

DEFINITION = FormsModel(shape)
