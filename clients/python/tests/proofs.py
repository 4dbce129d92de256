"""The mark of tests that docs/spec may name. The run prints those that passed."""


def proof(function):
    """Marks a test as the proof of a rule."""
    function.is_proof = True
    return function
