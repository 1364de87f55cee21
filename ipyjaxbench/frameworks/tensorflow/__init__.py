"""The adapter of TensorFlow, and its parts."""

from ipyjaxbench.frameworks.tensorflow.adapter import TensorFlow as TensorFlow
