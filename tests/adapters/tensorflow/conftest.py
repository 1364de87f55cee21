"""What TensorFlow keeps is not looked through: what modules of tests make comes later."""

import gc

import keras  # noqa: F401
import tensorflow  # noqa: F401

gc.freeze()
