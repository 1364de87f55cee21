"""Why a call does not trace, in TensorFlow."""
