"""Simulations that take minutes, and their saved results: `python tests/simulations.py` writes simulations.json.

Each sample has a generator of its own, so that a test can draw the first samples again and compare them with the saved ones."""
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

FILE = Path(__file__).with_suffix('.json')


class Simulation(NamedTuple):
    "Numbers that are computed for each of many samples."
    name: str
    sample: Callable # from a generator of random numbers to a dict of numbers
    n_samples: int
    seed: int

    def run(self, n_samples=None):
        "The numbers of the first samples, or of all of them, one row a sample."
        count = n_samples or self.n_samples
        return pd.DataFrame([self.sample(np.random.default_rng([self.seed, number])) for number in range(count)])

    def saved(self):
        "The saved numbers, one row a sample."
        table = pd.DataFrame(json.loads(FILE.read_text(encoding='utf-8'))[self.name])
        assert len(table) == self.n_samples, f'{self.name}: run python tests/simulations.py'
        return table

    def check(self, n_samples=None):
        "AssertionError: the first samples, or all of them, have other numbers than the saved ones."
        table = self.run(n_samples)
        pd.testing.assert_frame_equal(table, self.saved()[:len(table)], check_dtype=False, rtol=1e-6, atol=1e-9)


def main():
    import test_bbq
    import test_coreference
    import test_unqover
    simulations = [*test_bbq.SIMULATIONS, *test_coreference.SIMULATIONS, *test_unqover.SIMULATIONS]
    tables = {}
    for simulation in simulations:
        print(simulation.name, flush=True)
        tables[simulation.name] = {column: [round(value, 12) for value in values] for column, values in simulation.run().items()}
    FILE.write_text(json.dumps(tables, indent=0) + '\n', encoding='utf-8')


if __name__ == '__main__':
    sys.path.insert(0, str(Path(__file__).parent.parent))
    main()
