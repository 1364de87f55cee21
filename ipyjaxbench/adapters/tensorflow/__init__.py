"""The adapter of TensorFlow, and its parts."""

from ipyjaxbench.adapters.tensorflow.framework import TensorFlow as TensorFlow
