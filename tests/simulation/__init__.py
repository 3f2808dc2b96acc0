"""Random sequences of everything that can happen, held against a model of what must be readable.

`python -m tests.simulation` runs them. `world` makes them happen, `memory` is the model, `steps`
are what can happen, `readers` ask every reading command after each of them.
"""
